import { buffer } from 'node:stream/consumers';
import { repairsInWords } from '../contracts/reading/repairs.js';
import type { DispatchResult } from '../contracts/replies/dispatch-result.js';
import { counted, oneLine } from '../shared/text.js';
import { readNamed } from './option-parsers.js';

/** Shared by the commands on results: a body that is read, and an outcome. */

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
