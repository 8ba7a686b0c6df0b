import { EXPLAINED } from '../contracts/kinds.js';
import type { Token } from '../contracts/names.js';
import type { PromptTrace } from '../contracts/prompt-requests.js';
import { repairsInWords } from '../contracts/reading/repairs.js';
import type {
  CompiledLearning,
  CompileReply,
  ConsideredFact,
  ConsideredFile,
} from '../contracts/replies/compile-reply.js';
import type { ToolReply } from '../contracts/requests.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { visible } from '../shared/terminal-text.js';
import { clipText, counted, quoted } from '../shared/text.js';
import { sectionName, spaced, statementsIn } from '../shared/wire-words.js';
import type { Flags } from './cli-command.js';
import { type Cli, coloured, note, out, outForAgent } from './command-context.js';
import { localTime } from './option-parsers.js';
import { table } from './output.js';
import { type Colors, coloursOf, NO_COLOURS, SHORT_ID } from './show-reply.js';

/** A compiled prompt line by line, with what each line is there for, and what was considered for it. */

export type ShowOptions = Flags<'text' | 'whole' | 'json'>;

export function explanationLines(reply: CompileReply): string[] {
  return [...originLines(reply, NO_COLOURS), ...consideredLines(reply)];
}

/** Shows a stored prompt line by line; with `whole` also what was left out. */
export async function showPrompt(
  cli: Cli,
  client: ThroughlineClient,
  of: { readonly session: Token; readonly id: string },
  { text, json, whole }: ShowOptions,
): Promise<void> {
  const shown = await client.tools.promptShow(of);
  if (json && !text) return out(JSON.stringify(shown));
  const reply = await compiledAgain(client, shown);
  if (json) return out(JSON.stringify(reply));
  if (text) return outForAgent(reply.prompt);
  const { prompt } = shown;
  const pc = coloursOf(cli);
  const lines = [
    ...headLines(prompt, pc),
    '',
    ...originLines(reply, pc),
    ...(whole ? ['', ...consideredLines(reply)] : []),
  ];
  out(lines.join('\n'), coloured(cli));
  if (whole) return;
  const ending = prompt.kind === 'session-start' ? 'a hook adds how to end a turn; ' : '';
  note(`-- ${ending}"throughline prompt show ${prompt.id} -s ${of.session}" also shows what was left out`);
}

async function compiledAgain(client: ThroughlineClient, { prompt, request }: ToolReply<'prompt-show'>) {
  if (prompt.cut)
    note(`-- the request of prompt ${prompt.id} was kept without some of its text: it may have been another`);
  const reply = await client.send('prompt.past', { ...request, include: [...EXPLAINED] });
  if (reply.vectors !== prompt.vectors) {
    const [before, now] = [prompt.vectors, reply.vectors].map((name = 'none') => name);
    note(
      `-- prompt ${prompt.id} was ordered with the word vectors ${before}, now with ${now}: it may differ`,
    );
  }
  return reply;
}

function headLines(prompt: PromptTrace, pc: Colors): string[] {
  const { id, at, kind, task, role, sequence, hash, room, tokens, dropped, factsTotal, vectors } = prompt;
  const of = `${task === undefined ? '' : ` of task ${quoted(task)}`}${role === undefined ? '' : ` for the ${role}`}`;
  return [
    pc.bold(`${spaced(kind)} prompt${of}, ${localTime(at)}, id ${id}`),
    `${tokens} of ${room} tokens, ${counted(dropped, 'item')} left out, ${counted(factsTotal, 'fact')} known`,
    `session sequence ${sequence}, hash ${hash}, ordered by words ${vectors === undefined ? 'alone' : `and by meaning, ${vectors}`}`,
  ];
}

/** The lines of a prompt below their sections, with the id of what each shows and why, once for a section of one reason. */
function originLines({ prompt, lines = [] }: CompileReply, pc: Colors): string[] {
  let before: string | undefined;
  return prompt.split('\n').flatMap((text, at) => {
    if (text.trim() === '') return [];
    const line = lines.find(({ from, to }) => from <= at + 1 && at + 1 <= to);
    const { section = 'template', why, fact, learning } = line ?? {};
    const reasons = new Set(lines.flatMap((other) => (other.section === section && other.why) || []));
    const [reason] = reasons.size === 1 ? reasons : [];
    const id = statementsIn(text)[0] ?? (fact ?? learning ?? '').slice(0, SHORT_ID);
    const ownReason = why === undefined || why === reason ? '' : pc.dim(`  <- ${quoted(why)}`);
    const row = `  ${id.padEnd(SHORT_ID)}  ${visible(text)}${ownReason}`;
    const heading = `${sectionName(section)}${reason === undefined ? '' : `: ${quoted(reason)}`}`;
    const isFirst = section !== before;
    before = section;
    return isFirst ? [pc.dim(heading), row] : [row];
  });
}

const MAX_TEXT = 120;

/** Returns a table each of the facts, files and learnings that were considered for a prompt. */
function consideredLines({ considered, facts = [], learnings = [] }: CompileReply): string[] {
  // Repairs come with the facts shown.
  const repairs = new Map(facts.flatMap(({ id, repairs }) => (repairs === undefined ? [] : [[id, repairs]])));
  const repaired = ({ id }: ConsideredFact) => {
    const known = repairs.get(id);
    return known === undefined ? '' : ` (${quoted(repairsInWords({ repairs: known }))})`;
  };
  const { facts: weighed = [], files = [] } = considered ?? {};
  const consideredFacts = weighed.map((fact) => {
    const saying = clipText(quoted(`${fact.subject} ${fact.relation} ${fact.object}`), MAX_TEXT);
    return [...factCells(fact), `${saying}${repaired(fact)}`];
  });
  return [
    ...explained('facts considered', 'shown score kind why result task id text', consideredFacts),
    ...explained('files considered', 'shown score why results task path', files.map(fileCells)),
    ...explained('learnings considered', 'shown score id text', learnings.map(learningCells)),
  ];
}

function factCells(fact: ConsideredFact): string[] {
  const { shown, left, duplicateOf, score, kind, dispatch, taskId, id, because, words } = fact;
  const hidden = duplicateOf === undefined ? left : `${left} of ${duplicateOf}`;
  const text = words.length === 0 ? '' : ` ${words.map(quoted).join(' ')}`;
  const why = because === 'words' ? `words:${text}` : `${because}${text && `, words:${text}`}`;
  const from = [String(dispatch), quoted(taskId), id];
  return [shown ? 'yes' : `no: ${hidden}`, score.toFixed(2), kind, why, ...from];
}

function fileCells({ shown, left, score, reasons, uses, tasks, path }: ConsideredFile): string[] {
  const why = Object.entries(reasons).map(([what, sum]) => `${what} ${sum}`);
  const about = [counted(uses, 'result'), quoted(tasks[0] ?? ''), quoted(path)];
  return [shown ? 'yes' : `no: ${left}`, score.toFixed(2), why.join(', '), ...about];
}

function learningCells({ id, type, content, score }: CompiledLearning): string[] {
  return ['yes', score.toFixed(2), id, clipText(quoted(`${type}: ${content}`), MAX_TEXT)];
}

function explained(title: string, head: string, rows: readonly string[][]): string[] {
  if (rows.length === 0) return [];
  return [`${title}:`, ...table(head.split(' '), rows, String).map((line) => `  ${line}`)];
}
