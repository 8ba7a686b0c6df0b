import { repairsInWords } from '../contracts/reading/repairs.js';
import type {
  CompiledLearning,
  CompileReply,
  ConsideredFact,
  ConsideredFile,
} from '../contracts/replies/compile-reply.js';
import type { PromptTrace } from '../contracts/replies/prompt-trace.js';
import { clipText, counted, quoted } from '../shared/text.js';
import { table } from './output.js';

export const PROMPT_HEADINGS = ['ID', 'TIME', 'KIND', 'ROLE', 'TASK', 'SEQUENCE', 'TOKENS', 'FACTS', 'MS'];

export function promptCells(_: unknown, prompt: PromptTrace): string[] {
  const { id, at, kind, task = '-', role = '-', sequence, tokens, factsShown, durationMs } = prompt;
  return [id, at, kind, role, quoted(task), ...[sequence, tokens, factsShown, durationMs].map(String)];
}

export function promptLines(prompt: PromptTrace): string[] {
  const { facts, left, learnings, hash, prefixHash, room, dropped, factsTotal, vectors } = prompt;
  return [
    ...table(PROMPT_HEADINGS, [promptCells(undefined, prompt)], String),
    `hash ${hash}${prefixHash === undefined ? '' : `, prefix ${prefixHash}`}`,
    `${room} tokens of room, ${counted(dropped, 'item')} left out, ${counted(factsTotal, 'fact')} known`,
    vectors === undefined ? 'ordered by words alone' : `ordered by words and by meaning, ${vectors}`,
    ...facts.map(({ id, score }) => `  shown  ${id}  ${score.toFixed(2)}`),
    ...left.map(({ id, score, why }) => `  left   ${id}  ${score.toFixed(2)}  ${why}`),
    ...(learnings.length === 0 ? [] : [`learnings: ${learnings.join(', ')}`]),
  ];
}

const MAX_TEXT = 120;

/** Returns the output of `--explain`: a table each of the lines shown, and of the facts, files and learnings considered. */
export function explanation({ considered, facts = [], learnings = [], lines = [] }: CompileReply): string[] {
  // Repairs come with the facts shown.
  const repairs = new Map(facts.flatMap(({ id, repairs }) => (repairs === undefined ? [] : [[id, repairs]])));
  const repaired = ({ id }: ConsideredFact) => {
    const known = repairs.get(id);
    return known === undefined ? '' : ` (${quoted(repairsInWords({ repairs: known }))})`;
  };
  const shownLines = lines.map(({ from, to, section, why = '' }) => {
    return [from === to ? `${from}` : `${from}-${to}`, section, why];
  });
  const { facts: weighed = [], files = [] } = considered ?? {};
  const consideredFacts = weighed.map((fact) => {
    const saying = clipText(quoted(`${fact.subject} ${fact.relation} ${fact.object}`), MAX_TEXT);
    return [...factCells(fact), `${saying}${repaired(fact)}`];
  });
  return [
    ...explained('lines shown', 'line section why', shownLines),
    ...explained('facts considered', 'shown score kind why dispatch task id text', consideredFacts),
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
  return [`-- ${title}:`, ...table(head.split(' '), rows, String).map((line) => `--   ${line}`)];
}
