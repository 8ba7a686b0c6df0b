import { createHash } from 'node:crypto';
import { type Role, rolesOf } from '../../contracts/kinds.js';
import { RELATIONS } from '../../contracts/relations.js';
import type { RecordedEntry, TraceEntryInput } from '../../contracts/trace-entry.js';
import { type FinishedTurn, finishedTurn } from '../../memory/traces/finished-turn.js';
import { clipText, oneLine } from '../../shared/text.js';
import { agentKey, type HookCall, type HookTools, namedTask } from './hook-call.js';
import { resultId } from './hook-results.js';
import type { TurnNote, Waiting } from './hook-state.js';
import { intentOf } from './hook-trace.js';

/** Publishes a turn that ended without a result: an observer's result, made by rule from what the hooks noted. */

/** The role as which a turn is published: one that only records. */
export const [TURN] = rolesOf('note') as [Role];
/** Characters of a last message that are read. */
const MAX_MESSAGE = 50_000;
const MAX_ANSWER = 200;

/** The turn of an agent that stops, as a result to send; undefined for one that leaves nothing. */
export async function turnResult(
  call: HookCall,
  message: string,
  tools: HookTools,
): Promise<Extract<Waiting, { kind: 'result' }> | undefined> {
  const { state, at, name, client, redact } = tools;
  const isMain = call.agent === '';
  // The process that started the agent publishes its result.
  if (at.turns === false || (isMain && at.resultId !== undefined)) return undefined;
  const key = agentKey(call, tools);
  const notes = state.notes(key);
  if (notes.some(({ reported }) => reported)) return undefined;
  const asked = isMain ? state.recall(questionKey(key)) : undefined;
  const body = turnBody({
    ...{ client: name, conversation: call.conversation, notes, branch: at.branch, asked },
    message: (await redact(message)).slice(0, MAX_MESSAGE),
    hidesFailures: client.hidesFailures,
  });
  const waits = body?.facts.findLast(({ relation }) => relation === RELATIONS.asks)?.object;
  if (isMain && (waits ?? (body === undefined && asked)))
    state.remember(questionKey(key), waits ?? asked ?? '');
  if (body === undefined) return undefined;
  const id = resultId({ ...call, client: name }, JSON.stringify(body));
  const text = JSON.stringify({ ...body, result_id: id });
  return { kind: 'result', session: at.session, role: TURN, text, messageId: `${at.session}:${id}` };
}

interface TurnParts {
  readonly client: string;
  readonly conversation: string;
  readonly notes: readonly TurnNote[];
  readonly message: string;
  readonly branch?: string | undefined;
  readonly asked?: string | undefined;
  readonly hidesFailures?: boolean | undefined;
}

/** The result that a turn is published as; undefined for one that leaves nothing. */
export function turnBody({ client, conversation, notes, message, branch, asked, hidesFailures }: TurnParts) {
  const request = notes.find((note) => note.request !== undefined)?.request ?? '';
  const commits = notes.flatMap(({ commit }) => commit ?? []);
  const entries = notes.flatMap(({ entry }) => (entry === undefined ? [] : recorded(entry)));
  const turn = finishedTurn({ request, message, entries, commits, hidesFailures });
  const answer = asked === undefined ? undefined : answerTo(asked, request);
  if (turn === undefined && answer === undefined) return undefined;
  const done = turn ?? { ...NOTHING, summary: answer ?? '' };
  const task = namedTask(request) ?? turnTask(client, conversation);
  const ofTask = (relation: string, object: string) => ({ subject: `task:${task}`, relation, object });
  const decisions = [...(answer === undefined ? [] : [answer]), ...done.decisions];
  return {
    task_id: task,
    intent_id: intentOf(client, conversation),
    summary: done.summary,
    ...(done.files.length > 0 && { files_modified: done.files }),
    ...(done.tests.length > 0 && { tests: done.tests }),
    ...(done.open.length > 0 && { follow_up_actions: done.open }),
    ...(branch !== undefined && { branch }),
    facts: [
      ...decisions.map((object) => ({ ...ofTask(RELATIONS.decided, object), tags: ['decision'] })),
      ...done.questions.map((object) => ({ ...ofTask(RELATIONS.asks, object), tags: ['dependency'] })),
      ...commits.map((commit) => ofTask('committed', commit)),
    ],
  };
}

const NOTHING: FinishedTurn = { summary: '', files: [], tests: [], decisions: [], open: [], questions: [] };

function questionKey(key: string): string {
  return `asked ${key}`;
}

/** Returns the user's answer to a question if the next prompt is short and says yes or no, or repeats a word of it. */
function answerTo(question: string, request: string): string | undefined {
  const said = oneLine(request);
  if (said === '' || said.length > MAX_ANSWER || said.endsWith('?')) return undefined;
  const words = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? [];
  const known = new Set(words(question));
  const isAnswer = SHORT_ANSWER.test(said) || words(said).some((word) => known.has(word));
  return isAnswer ? `${clipText(question, MAX_ANSWER)} The user: "${said}"` : undefined;
}

const SHORT_ANSWER =
  /^(?:yes|no|yep|yeah|nope|neither|both|either|the (?:first|second|third|last|latter|former)|option|[a-d1-9][).]?(?:\s|$))/i;

/** Names what a conversation works on where its user names no task. */
export function turnTask(client: string, conversation: string): string {
  return `${client}-${createHash('sha256').update(conversation).digest('hex').slice(0, 6)}`;
}

function recorded({
  id = '',
  intent_id,
  action_type,
  payload = {},
  result,
}: TraceEntryInput): RecordedEntry[] {
  const { tool_name: tool, target_files: files, command } = payload;
  if (action_type !== 'TOOL_EXECUTION') return [];
  return [
    {
      ...{ id, intent: intent_id, action: action_type, status: result?.status ?? 'SUCCESS', size: 0 },
      ...(tool !== undefined && { tool }),
      ...(files !== undefined && { files }),
      ...(command !== undefined && { command }),
    },
  ];
}

const COMMIT = /\[[\w./-]+(?: \(root-commit\))? ([0-9a-f]{7,40})\] ([^"\\\n]{1,120})/;

/** The commit that a tool made, as git says it: `abc1234 Make the package private`. */
export function commitIn(command: string | undefined, response: unknown): string | undefined {
  if (command === undefined || !/\bgit\b/.test(command) || !/\bcommit\b/.test(command)) return undefined;
  const text = (typeof response === 'string' ? response : (JSON.stringify(response) ?? '')).slice(
    0,
    MAX_MESSAGE,
  );
  const [, hash, subject] = COMMIT.exec(text) ?? [];
  return hash === undefined ? undefined : `${hash} ${subject}`;
}
