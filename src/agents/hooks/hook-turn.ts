import { createHash, randomUUID } from 'node:crypto';
import { GIT_MS } from '../../config/ask-git.js';
import { gitAbove } from '../../config/git-repository.js';
import { type Role, rolesOf } from '../../contracts/kinds.js';
import { LINES_LEFT_OUT } from '../../contracts/reading/repairs.js';
import { RELATIONS } from '../../contracts/relations.js';
import type { RecordedEntry, TraceEntryInput } from '../../contracts/trace-entry.js';
import { takesBack } from '../../memory/facts/contrast.js';
import { REPLACES_UNNAMED } from '../../memory/facts/denials.js';
import { redactedStart } from '../../memory/redaction/redactor.js';
import { answerTo, ofAgent } from '../../memory/traces/answers.js';
import { type FinishedTurn, finishedTurn, NOT_KEPT } from '../../memory/traces/finished-turn.js';
import { factsOfLines } from '../../memory/traces/labelled-lines.js';
import { longWords, paragraphsOf, sentencesOf } from '../../memory/traces/sentences.js';
import { idsIn, withShownOnly } from '../../memory/traces/shown-statements.js';
import { defined } from '../../shared/collections.js';
import { BY_USER } from '../../shared/wire-words.js';
import { agentKey, type HookCall, type HookTools, namedTask } from './hook-call.js';
import { resultId } from './hook-results.js';
import type { HookState } from './hook-state.js';
import type { KeptResult } from './spool.js';
import { branchesAt, branchFacts, changesSince } from './turn-files.js';

/** Publishes a turn as an observer's result, made by rule from what the hooks noted. */

/** The role as which a turn is published: one that only records. */
export const [TURN] = rolesOf('note') as [Role];
/** Characters of a last message that are read. */
const MAX_MESSAGE = 50_000;
const MAX_REPLACED = 200;

/** The turn of an agent that stops, as a result to send; undefined for one that leaves nothing. */
export async function turnResult(
  call: HookCall,
  message: string,
  tools: HookTools,
): Promise<KeptResult | undefined> {
  const { state, at, name, redact } = tools;
  const isMain = call.agent === '';
  // The process that started the agent publishes its result.
  if (at.turns === false || (isMain && at.resultId !== undefined)) return undefined;
  const key = agentKey(call, tools);
  const questionsKey = `questions ${key}`;
  const all = state.notes(key);
  // The result has told what the tools did.
  const isReported = all.some(({ reported }) => reported);
  const notes = isReported ? all.filter((note) => note.request !== undefined) : all;
  const question = isMain ? state.recall(questionsKey) : undefined;
  const request = notes.find((note) => note.request !== undefined)?.request ?? '';
  const before = notes.find(({ tree }) => tree !== undefined)?.tree;
  const entries = notes.flatMap(({ entry }) => (entry === undefined ? [] : recorded(entry)));
  const written = entries.flatMap(({ files = [] }) => files);
  const redacted = (await redact(message)).slice(0, MAX_MESSAGE);
  const turn = finishedTurn({
    request,
    message: redacted,
    entries,
    commits: notes.flatMap(({ commit }) => commit ?? []),
    answer: question === undefined ? undefined : answerTo(JSON.parse(question), request),
    // A call that is carried out later would see what came after the turn.
    git:
      before && tools.isLate !== true
        ? changesSince(call.directory, before, written, Math.min(GIT_MS, tools.leftMs() / 4))
        : undefined,
  });
  if (turn === undefined) {
    if (question !== undefined) state.remember(questionsKey, question);
    if (isReported) return undefined;
    const entry = {
      id: randomUUID(),
      timestamp: tools.now,
      intent_id: intentOf(name, call.conversation),
      action_type: 'STATE_TRANSITION' as const,
      payload: { reasoning: NOT_KEPT },
    };
    if (isMain) tools.spool.keep({ kind: 'trace', session: at.session, entries: [entry] });
    tools.log(NOT_KEPT);
    return undefined;
  }
  const { questions, options } = turn;
  if (isMain && questions.length > 0) state.remember(questionsKey, JSON.stringify({ questions, options }));
  const task = namedTask(request) ?? turnTask(name, call.conversation);
  const shown = shownTo(agentOf(name, call.conversation), state);
  const by = isMain ? tools.person(call.directory) : undefined;
  const summary = isReported ? '' : turn.summary;
  const stated = withShownOnly(turnBody({ ...turn, summary }, task, redacted, isMain, by), shown);
  const body = {
    task_id: task,
    intent_id: intentOf(name, call.conversation),
    branch: at.branch,
    ...stated,
    facts: [...stated.facts, ...branchesEnded(call, tools)],
  };
  const id = resultId({ ...call, client: name }, JSON.stringify(body));
  const text = JSON.stringify({ ...body, result_id: id });
  return { kind: 'result', session: at.session, role: TURN, text, messageId: `${at.session}:${id}` };
}

/** Returns what became of branches since the last turn that was kept in this repository. */
function branchesEnded({ directory }: HookCall, { state, at, leftMs }: HookTools) {
  const now = branchesAt(directory, Math.min(GIT_MS, leftMs() / 4));
  if (now === undefined) return [];
  const key = `branches ${at.session} ${gitAbove(directory)}`;
  const before = state.peek(key);
  const text = JSON.stringify(now);
  if (text !== before) state.remember(key, text);
  return before === undefined ? [] : branchFacts(JSON.parse(before), now);
}

/** @param isMain true for the agent that the user talks to, whose name is `by` */
function turnBody(turn: FinishedTurn, task: string, message: string, isMain: boolean, by?: string) {
  const authored = new Set(isMain ? turn.authored : []);
  const about = (relation: string, texts: readonly string[]) =>
    texts.map((object) => ({ subject: `task:${task}`, relation, object }));
  const facts = [
    ...factsOfLines(turn, task),
    ...about(RELATIONS.requested, turn.requests.filter(denies)),
  ].map((fact) =>
    authored.has(fact.object)
      ? { ...fact, object: withReplaced(fact.object, message), origin: 'user' as const, by }
      : fact,
  );
  return {
    ...(turn.summary !== '' && { summary: turn.summary }),
    ...(turn.files.length > 0 && { files_modified: turn.files }),
    ...(turn.deleted.length > 0 && { files_deleted: turn.deleted }),
    ...(turn.renamed.length > 0 && { files_renamed: turn.renamed }),
    ...(turn.tests.length > 0 && { tests: turn.tests }),
    ...(turn.open.length > 0 && { follow_up_actions: turn.open }),
    ...(turn.leftOut > 0 && { [LINES_LEFT_OUT]: turn.leftOut }),
    facts: [...facts, ...about('committed', turn.commits)],
  };
}

function denies(text: string): boolean {
  return takesBack({ text }) !== undefined;
}

/** Adds the agent's sentence on what the words replace: "use dayjs instead" names nothing older, "Replaced moment" does. */
function withReplaced(text: string, message: string): string {
  const isOpen = REPLACES_UNNAMED.test(text);
  if (!text.startsWith(BY_USER) || (!isOpen && denies(text))) return text;
  const words = new Set(longWords(text.slice(BY_USER.length)));
  const about = paragraphsOf(message)
    .flatMap((paragraph) => sentencesOf(paragraph.text))
    .filter((sentence) => longWords(sentence).some((word) => words.has(word)));
  const sentence = about.find(denies) ?? (isOpen ? about[0] : undefined);
  return sentence === undefined ? text : `${text} (agent: ${ofAgent(sentence, MAX_REPLACED)})`;
}

/** Names what a conversation works on where its user names no task. */
export function turnTask(client: string, conversation: string): string {
  return `${client}-${createHash('sha256').update(conversation).digest('hex').slice(0, 6)}`;
}

function recorded(entry: TraceEntryInput): RecordedEntry[] {
  const { id = '', intent_id, action_type, payload = {}, result } = entry;
  if (action_type !== 'TOOL_EXECUTION') return [];
  const { tool_name: tool, target_files: files, command } = payload;
  const status = result?.status ?? 'SUCCESS';
  return [defined({ id, intent: intent_id, action: action_type, status, size: 0, tool, files, command })];
}

const MAX_PROMPT = 20_000;

export function intentOf(client: string, conversation: string): string {
  return `${client}-${conversation || 'unknown'}`.slice(0, 128);
}

/** Notes the statements that an agent, or any agent of a session, was shown: by the ids in a text that it reads. */
export function noteShown(text: string, reader: string, state: Pick<HookState, 'peek' | 'remember'>): void {
  const ids = idsIn(text);
  const known = shownTo(reader, state);
  if (ids.every((id) => known.includes(id))) return;
  state.remember(`shown ${reader}`, [...new Set([...known, ...ids])].slice(-MAX_SHOWN).join(' '));
}

export function shownTo(reader: string, state: Pick<HookState, 'peek'>): readonly string[] {
  return state.peek(`shown ${reader}`)?.split(' ') ?? [];
}

const MAX_SHOWN = 2000;

export function agentOf(client: string, conversation: string): string {
  return `${client}:${conversation.slice(0, 8)}`;
}

export async function requestEntry(
  { prompt, conversation }: HookCall,
  { name, now, redact }: Pick<HookTools, 'name' | 'now' | 'redact'>,
): Promise<TraceEntryInput> {
  return {
    id: randomUUID(),
    timestamp: now,
    intent_id: intentOf(name, conversation),
    state: 'REQUEST',
    action_type: 'INTENT_SELECTION',
    payload: { reasoning: await redactedStart(prompt, MAX_PROMPT, redact) },
  };
}
