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

/** Returns what a prompt showed and what it left out, one line each. */
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
  return [
    ...explained(
      'lines shown',
      ['line', 'section', 'why'],
      lines.map(({ from, to, section, why = '' }) => [
        from === to ? `${from}` : `${from}-${to}`,
        section,
        why,
      ]),
    ),
    ...explained(
      'facts considered',
      ['shown', 'score', 'kind', 'why', 'dispatch', 'task', 'id', 'text'],
      (considered?.facts ?? []).map((fact) => [...factCells(fact), `${saying(fact)}${repaired(fact)}`]),
    ),
    ...explained(
      'files considered',
      ['shown', 'score', 'why', 'results', 'task', 'path'],
      (considered?.files ?? []).map(fileCells),
    ),
    ...explained('learnings considered', ['shown', 'score', 'id', 'text'], learnings.map(learningCells)),
  ];
}

function factCells(fact: ConsideredFact): string[] {
  const { shown, left, duplicateOf, score, kind, dispatch, taskId, id } = fact;
  const why = duplicateOf === undefined ? left : `${left} of ${duplicateOf}`;
  return [
    shown ? 'yes' : `no: ${why}`,
    score.toFixed(2),
    kind,
    reason(fact),
    String(dispatch),
    quoted(taskId),
    id,
  ];
}

function reason({ because, words }: ConsideredFact): string {
  const text = words.length === 0 ? '' : ` ${words.map(quoted).join(' ')}`;
  return because === 'words' ? `words:${text}` : `${because}${text === '' ? '' : `, words:${text}`}`;
}

function fileCells({
  shown,
  left,
  score,
  reasons,
  uses,
  tasks: [task = ''],
  path,
}: ConsideredFile): string[] {
  const why = Object.entries(reasons).map(([what, sum]) => `${what} ${sum}`);
  return [
    shown ? 'yes' : `no: ${left}`,
    score.toFixed(2),
    why.join(', '),
    counted(uses, 'result'),
    quoted(task),
    quoted(path),
  ];
}

function learningCells({ id, type, content, score }: CompiledLearning): string[] {
  return ['yes', score.toFixed(2), id, clipText(quoted(`${type}: ${content}`), MAX_TEXT)];
}

function saying({ subject, relation, object }: ConsideredFact): string {
  return clipText(quoted(`${subject} ${relation} ${object}`), MAX_TEXT);
}

function explained(title: string, head: readonly string[], rows: readonly string[][]): string[] {
  if (rows.length === 0) return [];
  return [`-- ${title}:`, ...table(head, rows, String).map((line) => `--   ${line}`)];
}
