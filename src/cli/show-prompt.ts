import { codeOf, ThroughlineError } from '../contracts/errors.js';
import { EXPLAINED } from '../contracts/kinds.js';
import type { Token } from '../contracts/names.js';
import type { PromptTrace } from '../contracts/prompt-requests.js';
import type { CompileReply } from '../contracts/replies/compile-reply.js';
import { isOfCommand } from '../memory/facts/fact-types.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { hashOf } from '../shared/hash.js';
import { visible } from '../shared/terminal-text.js';
import { clipText, counted, quoted } from '../shared/text.js';
import { resultName, sectionName, spaced, statementsIn, whyLeft, whyShown } from '../shared/wire-words.js';
import type { Flags } from './cli-command.js';
import { type Cli, coloured, note, out, outForAgent } from './command-context.js';
import { localTime } from './option-parsers.js';
import { type Colors, coloursOf, NO_COLOURS, SHORT_ID } from './show-reply.js';

/** A compiled prompt line by line, with what each line is there for, and what was considered for it. */

export interface ShowOptions extends Flags<'text' | 'whole' | 'json'> {
  /** The text that a hook gave, and when: a line that it lacks is not shown. */
  readonly given?: { readonly at: string; readonly text: string } | undefined;
}

export function explanationLines(reply: CompileReply): string[] {
  return [...originLines(reply, NO_COLOURS), ...leftOutLines(reply, NO_COLOURS)];
}

export async function showPrompt(
  cli: Cli,
  client: ThroughlineClient,
  of: { readonly session: Token; readonly id: string },
  { text, json, whole, given }: ShowOptions,
): Promise<void> {
  const shown = await client.tools.promptShow(of);
  if (json && !text) return out(JSON.stringify(shown));
  const { prompt, request } = shown;
  const reply = await client.send('prompt.past', { ...request, include: [...EXPLAINED] }).catch((error) => {
    if (codeOf(error) !== 'not_found') throw error;
    const why = `the session was archived after it, and keeps its state but not those events`;
    throw new ThroughlineError(
      'not_found',
      `prompt ${prompt.id} of ${localTime(prompt.at)} cannot be compiled again: ${why}`,
      { cause: error },
    );
  });
  if (hashOf(reply.prompt) !== prompt.hash)
    note(`-- compiled again from the log: the text is not the one of prompt ${prompt.id} any more`);
  if (json) return out(JSON.stringify(reply));
  if (text) return outForAgent(reply.prompt);
  const pc = coloursOf(cli);
  const lines = [
    ...headLines(prompt, pc),
    '',
    ...originLines(reply, pc, given?.text),
    ...(whole ? ['', ...leftOutLines(reply, pc)] : []),
  ];
  out(lines.join('\n'), coloured(cli));
  if (whole) return;
  note(
    `-- ${given === undefined ? 'compiled, not given by a hook here' : `as a hook gave it, ${localTime(given.at)}`}; "throughline prompt show ${prompt.id} -s ${of.session}" also shows ${given === undefined ? '' : 'the lines that were not given, and '}what was left out`,
  );
}

function headLines(prompt: PromptTrace, pc: Colors): string[] {
  const { id, at, kind, task, role, sequence, hash, room, tokens, dropped, factsTotal, vectors } = prompt;
  const of = `${task === undefined ? '' : ` of task ${quoted(task)}`}${role === undefined ? '' : ` for the ${role}`}`;
  return [
    pc.bold(`${kind === 'dispatch' ? '' : `${spaced(kind)} `}prompt${of}, ${localTime(at)}, id ${id}`),
    `${tokens} of ${room} tokens, ${counted(dropped, 'item')} left out, ${counted(factsTotal, 'fact')} known`,
    `event ${sequence} of the session, hash ${hash}, ordered by words ${vectors === undefined ? 'alone' : `and by meaning, ${vectors}`}`,
  ];
}

/**
 * The lines of a prompt below their sections, with the id of what each shows and why, once for a section of one reason.
 *
 * @param given what a hook gave of it: other lines are left out
 */
function originLines({ prompt, lines = [] }: CompileReply, pc: Colors, given?: string): string[] {
  let before: string | undefined;
  const shown = new Set(statementsIn(given ?? ''));
  return prompt.split('\n').flatMap((text, at) => {
    if (text.trim() === '') return [];
    const line = lines.find(({ from, to }) => from <= at + 1 && at + 1 <= to);
    const { section = 'template', why, fact, learning, task } = line ?? {};
    const reasons = new Set(lines.flatMap((other) => (other.section === section && other.why) || []));
    const [reason] = reasons.size === 1 ? reasons : [];
    const id = statementsIn(text)[0] ?? fact ?? learning ?? '';
    if (given !== undefined && !shown.has(id) && !given.includes(text.trim())) return [];
    const from = section === 'ledger' ? task && `results of task ${quoted(task)}` : undefined;
    const remarks = [sourceOf(id, line?.dispatch) ?? from, why === reason ? undefined : why];
    const row = lineOf(id, visible(text), remarks.filter(Boolean).join('; '), pc);
    const heading = `${sectionName(section)}${reason === undefined ? '' : `: ${quoted(reason)}`}`;
    const isFirst = section !== before;
    before = section;
    return isFirst ? [pc.dim(heading), row] : [row];
  });
}

/** No result says a note or an answer: its id begins with N. */
function sourceOf(id: string, dispatch: number | undefined): string | undefined {
  return dispatch === undefined || isOfCommand(id) ? undefined : resultName(dispatch);
}

/** The facts and files that were considered and are not in the prompt: why each was left out, and what spoke for it. */
function leftOutLines({ considered, prompt }: CompileReply, pc: Colors): string[] {
  const { facts = [], files = [] } = considered ?? {};
  const named = new Set(prompt.split(/[\s,:]+/));
  const left = [
    ...facts.map((fact) => ({
      ...fact,
      text: clipText(quoted(`${fact.subject} ${fact.relation} ${fact.object}`), MAX_TEXT),
      id: fact.ref ?? fact.id,
      from: [
        sourceOf(fact.ref ?? '', fact.dispatch) ?? [],
        `task ${quoted(fact.task)}, ${fact.kind}, ${whyShown(fact)}`,
      ]
        .flat()
        .join(', '),
    })),
    ...files.map(({ path, reasons, left, ...file }) => ({
      ...file,
      id: '',
      text: quoted(path),
      left: left === 'budget' ? left : ('unlikely' as const),
      from: Object.entries(reasons)
        .map((reason) => reason.join(' '))
        .join(', '),
    })),
  ].filter(({ shown, text }) => !shown && !named.has(text));
  if (left.length === 0) return [];
  return [
    pc.dim('Left out'),
    ...left.map((item) => {
      const why = `${whyLeft(item)}; score ${item.score.toFixed(2)}: ${item.from}`;
      return lineOf(item.id, item.text, why, pc);
    }),
  ];
}

const MAX_TEXT = 120;

function lineOf(id: string, text: string, why: string, pc: Colors): string {
  const reason = why === '' ? '' : pc.dim(`  <- ${quoted(why)}`);
  return `  ${id.slice(0, SHORT_ID).padEnd(SHORT_ID)}  ${text}${reason}`;
}
