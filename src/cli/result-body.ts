import { buffer } from 'node:stream/consumers';
import type { Role } from '../contracts/kinds.js';
import { publishItOn } from '../contracts/reading/clear-fields.js';
import { repairsInWords } from '../contracts/reading/repairs.js';
import type { DispatchResult } from '../contracts/replies/dispatch-result.js';
import { counted, oneLine } from '../shared/text.js';
import { readNamed } from './option-parsers.js';

/** Shared by the commands on results: a body that is read, a refusal in words of the command line, and an outcome. */

interface Refusal {
  readonly reason: string;
  readonly fix?: string | undefined;
  readonly meant?: Role | undefined;
}

/** The same refusal with the command to type in place of the subject to publish on. */
export function asCommand<Known extends Refusal>(known: Known, command: (role: Role) => string): Known {
  const { reason, fix, meant } = known;
  if (meant === undefined) return known;
  const typed = (text: string) =>
    text.replaceAll(publishItOn(meant), () => `publish it with "${command(meant)}"`);
  return { ...known, reason: typed(reason), ...(fix !== undefined && { fix: typed(fix) }) };
}

/** The bytes of a file that an option names; `-` is standard input. */
export async function readBody(file: string): Promise<Buffer> {
  if (file === '-') return buffer(process.stdin);
  return readNamed(file, `--file ${file}`);
}

export function resultText(result: DispatchResult): string {
  const name = `result ${result.dispatch}`;
  switch (result.status) {
    case 'recorded': {
      const { role, task: of, facts, factsOmitted = 0, repairs, repairsOmitted = 0 } = result;
      return [
        `${name} recorded: ${role}, task ${oneLine(of)}, ${counted(facts.length, 'fact')}`,
        ...facts.map(({ subject, relation, object }) => `- ${oneLine(`${subject} ${relation} ${object}`)}`),
        ...(factsOmitted === 0 ? [] : [`and ${counted(factsOmitted, 'fact')} beyond the limit, not kept`]),
        ...(repairs === undefined ? [] : [oneLine(repairsInWords({ repairs, repairsOmitted }))]),
      ].join('\n');
    }
    case 'rejected': {
      const { code, reason, fix } = result;
      const head = `${name} rejected: ${oneLine(reason)} (${code})`;
      return fix === undefined ? head : `${head}\nto fix it: ${oneLine(fix)}`;
    }
    case 'repeated':
      return `${name} repeated: this result of ${result.role} for task ${oneLine(result.task)} had counted before, so nothing changed`;
    case 'counted':
      return `${name} was accepted, and the session keeps nothing of it: it repeated an earlier result, or newer ones have taken its place`;
  }
}
