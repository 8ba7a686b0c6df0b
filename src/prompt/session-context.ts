import type { CompiledFile, CompileHints } from '../contracts/compile-request.js';
import { rankFacts } from '../facts/fact-ranking.js';
import { withinBudget } from '../facts/fact-retriever.js';
import type { RankedFact, SessionFactTag } from '../facts/fact-types.js';
import { formatSessionFacts, SESSION_CONTEXT_HEADER } from '../facts/format-facts.js';
import { type LikelyFile, likelyFiles, similarResults } from '../search/likely-files.js';
import { tokens } from '../search/tokens.js';
import { factsOf, pastOf, type SessionState } from '../session/session-state.js';
import { counted } from '../shared/counted.js';
import { clipText, quoted } from '../shared/text.js';

/** What opens the likely files within the session context. */
export const LIKELY_FILES = 'Likely files:';

const MAX_PATH = 120;
const MAX_TASK = 60;

/** The files that a task in these words will likely touch. */
export function filesFor(
  state: SessionState,
  text: string,
  { maxFiles, hints }: { readonly maxFiles: number; readonly hints?: CompileHints | undefined },
): readonly LikelyFile[] {
  return likelyFiles(pastOf(state), { text, maxFiles, open: hints?.files, folder: hints?.cwd });
}

/** The facts that a task in these words needs. */
export function factsFor(
  state: SessionState,
  text: string,
  request: {
    readonly taskId?: string | undefined;
    readonly tags?: readonly SessionFactTag[] | undefined;
    readonly maxFacts: number;
    readonly hints?: CompileHints | undefined;
  },
  files: readonly LikelyFile[],
  maxTokens: number,
): readonly RankedFact[] {
  const { taskId = '', tags, maxFacts, hints } = request;
  const similar = new Map<string, number>();
  for (const { row, similarity } of similarResults(pastOf(state), tokens(text)))
    if (!similar.has(row.task)) similar.set(row.task, similarity);
  const likely = [...(hints?.files ?? []), ...files.map(({ path }) => path)];
  const { chosen } = rankFacts(factsOf(state), { text, taskId, tags, maxFacts, files: likely, similar });
  return withinBudget(chosen, maxTokens);
}

/** The session context of a prompt: facts, then likely files; empty without any. */
export function sessionContextOf(facts: readonly RankedFact[], files: readonly LikelyFile[]): string {
  const known = formatSessionFacts(facts.map(({ fact }) => fact));
  if (files.length === 0) return known;
  return [known === '' ? SESSION_CONTEXT_HEADER : known, LIKELY_FILES, ...files.map(fileLine)].join('\n');
}

/** The part of a reply that lists the files shown. */
export function describeFiles(files: readonly LikelyFile[]): { readonly files: readonly CompiledFile[] } {
  return { files: files.map((file) => ({ ...file, score: Math.round(file.score * 1000) / 1000 })) };
}

/** The path, how many results touched it, and the task nearest to what is asked. */
function fileLine({ path, uses, tasks: [task = ''] }: LikelyFile): string {
  // A bracket in a task id would end the origin early.
  const origin = clipText(quoted(task).replace(/[[\]]/g, ''), MAX_TASK);
  return `- ${clipText(quoted(path), MAX_PATH)}, ${counted(uses, 'result')} [task:${origin}]`;
}
