import type { ConsideredFact } from '../../contracts/replies/compile-reply.js';
import type { FoundFact } from '../../contracts/replies/fact-reply.js';
import { counted, quoted } from '../../shared/text.js';
import { whyLeft, whyShown } from '../../shared/wire-words.js';
import { knownTask, type McpInput, type McpTool, type Memory } from './mcp-tools.js';
import { notesFor, said } from './recall-tool.js';

const MOST = 10;
const MOST_NOTES = 3;

/** `explain`: the origin of a fact, what closed it and, for a task, why its prompt shows it or not. */
export const explainTool: McpTool<'explain'> = async (memory, input) => {
  const client = await memory.client();
  const { session } = memory;
  const [found, { notes: all }] = await Promise.all([
    client.tools.factFind({ session, text: input.fact, is: 'all', limit: MOST }),
    client.tools.noteList({ session }),
  ]);
  const named = all.filter(({ id }) => id === input.fact.toUpperCase());
  const notes = notesFor(input.fact, named.length === 0 ? all : [], MOST_NOTES);
  for (const { id, type, content } of named) notes.push(`${id} ${type}: ${quoted(content)}`);
  if (found.facts.length + notes.length === 0) {
    return `No fact or note holds ${JSON.stringify(input.fact)}: recall finds facts by what they are about.`;
  }
  const asked = input.task !== undefined || input.prompt !== undefined;
  const considered = asked ? await consideredFor(memory, input) : undefined;
  const told = found.facts.map((fact) =>
    lineOf(fact, considered && inPrompt(fact, considered.get(fact.id), input)),
  );
  const more =
    found.total > told.length
      ? [`${counted(found.total - told.length, 'more fact')} fit: say more of it.`]
      : [];
  const hint = asked ? [] : ['With task, it says why the prompt of that task shows the fact or does not.'];
  const noted =
    notes.length === 0
      ? []
      : ['Notes, which prompts show until they are deleted:', ...notes.map((note) => `- ${note}`)];
  return [...told, ...more, ...noted, ...hint].join('\n');
};

async function consideredFor(
  { session, project, client: connect }: Memory,
  { task, prompt }: McpInput<'explain'>,
): Promise<ReadonlyMap<string, ConsideredFact>> {
  const client = await connect();
  const common = { session, project, include: ['considered' as const] };
  const { considered } = await (task === undefined
    ? client.compile({ kind: 'session-start', ...common, taskPrompt: prompt })
    : client.compile({
        ...common,
        taskId: task,
        taskPrompt: prompt ?? (await knownTask(client, session, task)).text ?? `Task ${task}`,
      }));
  return new Map((considered?.facts ?? []).map((fact) => [fact.id, fact]));
}

function inPrompt(fact: FoundFact, known: ConsideredFact | undefined, { task }: McpInput<'explain'>): string {
  if (fact.closed_by !== undefined) return 'not shown: it is closed';
  if (known === undefined) {
    return fact.task === task
      ? 'not among the facts: it is of this task, and the ledger in its prompt tells it'
      : 'not shown: others fit the task better';
  }
  return known.shown
    ? `shown for ${whyShown({ because: known.because, words: known.words.map(quoted) })}`
    : `not shown: ${whyLeft(known)}`;
}

function lineOf(fact: FoundFact, why: string | undefined): string {
  const { id, role, task, dispatch, at, closed_by, closed_at } = fact;
  const closed = closed_by === undefined ? 'valid' : `closed by dispatch ${closed_by} at ${closed_at}`;
  const from = `said by dispatch ${dispatch} (${role}, task ${quoted(task)}) at ${at}; ${closed}`;
  return `- ${said(fact)} [${id}]: ${from}${why === undefined ? '' : `; prompt: ${why}`}`;
}
