import type { DispatchRequest } from '../contracts/compile-request.js';
import { ThroughlineError } from '../contracts/errors.js';
import type { ProgressTask, TasksDocument } from '../contracts/plan-requests.js';
import { driftOf, totalsOf } from '../ledger/next-task.js';
import { outcomeName, questionKey, type TaskLedger } from '../ledger/task-ledger.js';
import { mentionsIn } from '../memory/search/tokens.js';
import { isForPerson, unread } from '../memory/session/notebook.js';
import { answersOf, asksOf, ledgersOf, outlook, type SessionState } from '../memory/session/session-state.js';
import { byPriority, claimOf, isReady, numberOf, type Task } from '../memory/session/task-board.js';
import { nearIdsHint } from '../shared/nearest-name.js';
import { clipText, dayOf, quoted, quotedLines } from '../shared/text.js';
import { leftBy, statusText } from '../shared/wire-words.js';
import { beginnings, type Item, line } from './fill-prompt.js';

/**
 * The whole text of a task: what the request says, what the plan and the board say about it and the board tasks that it
 * names, and what the plan says about all of its tasks. Each line stands once.
 */

const MAX_BOARD_TASKS = 3;
const MAX_ABOVE = 1000;

/** @throws ThroughlineError `schema_invalid` if the request has no text, and neither plan nor board knows the task */
export function taskText(state: SessionState, { taskId, taskPrompt }: DispatchRequest): string {
  const { run, board } = state;
  const planned = run?.document.tasks.find(({ id }) => id === taskId);
  const ofBoard = board.tasks.get(taskId.toUpperCase())?.content;
  const objective = taskPrompt ?? planned?.text ?? (ofBoard && linesOf(ofBoard).join('\n'));
  if (objective === undefined) {
    const ids = [...(run?.document.tasks.map(({ id }) => id) ?? []), ...board.tasks.keys()];
    throw new ThroughlineError(
      'schema_invalid',
      `task ${JSON.stringify(quoted(taskId))} is neither in the plan nor on the board${nearIdsHint(taskId, ids)}; give its text as taskPrompt, on the command line as -p "what to do"`,
    );
  }
  const named = [taskId, ...(objective.match(/\bTAS-\d+\b/g) ?? [])];
  const tasks = [...new Set(named)].flatMap((id) => board.tasks.get(id) ?? []).slice(0, MAX_BOARD_TASKS);
  return withParts(objective, [
    doneLines(state, taskId, planned),
    ...(run === undefined || planned === undefined ? [] : [planLines(objective, planned, run.document)]),
    ...tasks.map((task) => boardLines(state, task)),
    handoverLines(state, taskId),
  ]);
}

/** Adds what the plan says about the task that this one is part of, and about all of its tasks. */
export function withPlanText({ run }: SessionState, taskId: string, text: string): string {
  const { tasks = [], preamble } = run?.document ?? {};
  const task = tasks.find(({ id }) => id === taskId);
  if (task === undefined) return text;
  const above = tasks.find(({ id }) => id === task.parent);
  const prompt = linesOf(clipText(above?.prompt ?? '', MAX_ABOVE));
  return withParts(text, [
    above === undefined ? [] : [`Part of ${above.id}: ${above.text}`, ...prompt],
    preamble === undefined ? [] : ['The plan says of all its tasks:', ...linesOf(preamble)],
  ]);
}

function withParts(text: string, parts: readonly (readonly string[])[]): string {
  const known = new Set(text.split('\n').map((line) => line.trim()));
  const written = parts.map((lines) => lines.filter((line) => !known.has(line.trim())).join('\n'));
  const added = written.filter((part) => part !== '');
  return added.length === 0 ? text : [text.trimEnd(), ...added].join('\n\n');
}

function planLines(
  objective: string,
  task: ProgressTask,
  { requirementTexts = {}, shortened }: TasksDocument,
): string[] {
  const { id, text, written, prompt = '', requirements = [], reason } = task;
  const isCut = shortened?.prompts !== undefined && prompt.endsWith('...');
  return [
    ...(objective.includes(text) ? [] : [`Plan task ${id}: ${text}`]),
    ...(written === undefined ? [] : [`In the plan's file it is task ${written}.`]),
    ...(reason === undefined ? [] : [`Blocked: ${reason}`]),
    ...linesOf(prompt),
    ...(isCut ? ['(shortened: the whole is in the plan)'] : []),
    ...(requirements.length === 0 ? [] : ['Requirements:']),
    ...requirements.map(
      (key) => `- ${key}${Object.hasOwn(requirementTexts, key) ? `: ${requirementTexts[key]}` : ''}`,
    ),
  ];
}

function boardLines({ board }: SessionState, task: Task): string[] {
  const title = ({ id, status, by: author }: Task) => {
    const { claimed_by: by } = claimOf(board, id);
    return `${id} (${statusText(status)}${by === undefined ? '' : `, by agent ${line(by)}`})${leftBy(author)}`;
  };
  return [
    `Board task ${title(task)}: ${line(task.content)}`,
    ...(task.reason === undefined ? [] : [`Reason: ${line(task.reason)}`]),
    ...task.depends_on.map((id) => {
      const other = board.tasks.get(id);
      return `Depends on ${other === undefined ? line(id) : `${title(other)}: ${line(other.content)}`}`;
    }),
  ];
}

/** Returns what the agent left that gave the task back, until the next result of it. */
function handoverLines(state: SessionState, taskId: string): string[] {
  const { handover } = claimOf(state.board, taskId);
  const last = ledgersOf(state).get(taskId)?.last;
  if (handover === undefined || (last !== undefined && last.at > handover.at)) return [];
  const by = handover.by === undefined ? '' : ` by agent ${line(handover.by)}`;
  return [`Handed over${by}: ${line(handover.note)}`];
}

function doneLines(state: SessionState, taskId: string, planned: ProgressTask | undefined): string[] {
  const last = ledgersOf(state).get(taskId)?.last;
  const task = state.board.tasks.get(taskId);
  const { claimed_by: agent } = claimOf(state.board, taskId);
  const by = [
    ...(last?.verdict === 'approved'
      ? [`approved by the ${last.role}, ${dayOf(last.at, state.lastEventAt)}`]
      : []),
    ...(task?.status === 'completed'
      ? [`completed on the board${agent === undefined ? '' : ` by ${line(agent)}`}`]
      : []),
    ...(planned?.status === 'completed' ? ['ticked in the plan'] : []),
  ];
  return by.length === 0 ? [] : [`This task is done: ${by.join(', ')}.`];
}

function linesOf(text: string): string[] {
  return quotedLines(text, MAX_LINES)
    .lines.map((line) => line.slice(2))
    .filter((line) => line.trim() !== '');
}

/** More than the longest plan text has. */
const MAX_LINES = 6000;

/** The words of people and other agents to the agent of a task: answers to its questions, and unread messages. Newest first. */

const MAX_ANSWER = 600;
const MAX_MESSAGE = 400;
const MOST_ANSWERS = 10;
const MOST_MESSAGES = 5;
const MOST_READ = 200;

/** The questions of a task, each with its answer; those without one name the default that the work goes on with. */
export function answerItems(state: SessionState, taskId: string): Item[] {
  const open = asksOf(state, taskId, ledgersOf(state).get(taskId));
  const latest = new Map(
    answersOf(state)
      .filter(({ task }) => task === taskId)
      .map((given) => [given.questions.map(questionKey).join('\n'), given]),
  );
  const given = [...latest.values()].slice(-MOST_ANSWERS).map(({ questions, answer, by }) => {
    const questionText = questions.map((text) => JSON.stringify(quoted(text))).join(' and ');
    return `- Asked: ${questionText} Answered by ${quoted(by)}: ${JSON.stringify(clipText(quoted(answer), MAX_ANSWER))}`;
  });
  const waiting = open.map(({ text, options = [], default: usual }) => {
    const choice = options.length === 0 ? '' : ` (${options.map(quoted).join(' | ')})`;
    const until = usual === undefined ? '' : `; go on with ${JSON.stringify(quoted(usual))}`;
    return `- Asked: ${JSON.stringify(quoted(text))}${choice} No answer yet${until}.`;
  });
  return [...given, ...waiting].map((line) => ({ forms: [line] }));
}

/** Tells whether a text names tasks of the board or the plan, but neither this one nor one that its prompt names. */
export function isForOthers(
  { board, run }: SessionState,
  taskId: string,
  taskPrompt: string,
): (text: string) => boolean {
  const planIds = run?.document.tasks.map(({ id }) => id) ?? [];
  const spellings = (id: string) => (board.tasks.has(id) ? [id, String(numberOf(id))] : [id]);
  const all = [...board.tasks.keys(), ...planIds].flatMap(spellings);
  const ids = new Set(all.map((id) => id.toLowerCase()));
  const taskIds = [...spellings(taskId).map((id) => id.toLowerCase()), ...mentionsIn(taskPrompt)];
  return (text) => {
    const named = mentionsIn(text);
    return !taskIds.some((id) => named.has(id)) && [...named].some((id) => ids.has(id));
  };
}

/** Messages that no one has read, except those for others. */
export function messageItems(state: SessionState, taskId: string, taskPrompt: string): Item[] {
  const isAnothers = isForOthers(state, taskId, taskPrompt);
  const messages = unread(state.notebook)
    .slice(-MOST_READ)
    .filter((message) => !isAnothers(message.content) && !isForPerson(message))
    .slice(-MOST_MESSAGES)
    .reverse();
  return messages.flatMap(({ id, by, content }) => {
    const text = clipText(quoted(content), MAX_MESSAGE);
    return text === ''
      ? []
      : { forms: beginnings(text).map((form) => `- Message ${id}${leftBy(by)}: ${form}`) };
  });
}

/** Limit of ready tasks: later ones are relevant in their turn. */
const TASKS_AHEAD = 10;
const MAX_OPEN = 300;

/** Returns the words that select memory without a task prompt: the goal, current and next tasks, recent open work. */
export function whatIsAhead(state: SessionState): string {
  const { board, run } = state;
  const tasks = [...board.tasks.values()].sort(byPriority);
  const current = [
    ...tasks.filter((task) => task.status === 'in_progress').slice(0, TASKS_AHEAD),
    ...tasks.filter((task) => isReady(board, task)).slice(0, TASKS_AHEAD),
  ];
  const planned = run?.document.tasks ?? [];
  const { activeTaskId } = outlook(state);
  return [
    goalOf(state) ?? '',
    ...current.map((task) => task.content),
    planned.find(({ id }) => id === activeTaskId)?.text ?? '',
    ...openWords(state),
  ]
    .filter((text) => text !== '')
    .join(' ')
    .trim();
}

/** Returns the open work of unsettled tasks, those with the newest results first. */
function openWords(state: SessionState): string[] {
  return [...ledgersOf(state).values()]
    .filter(isOpenLedger)
    .sort((a, b) => b.last.sequence - a.last.sequence)
    .slice(0, TASKS_AHEAD)
    .map(({ task, summary = '', requiredFixes, blockers, issues, work }) => {
      const fixes = requiredFixes.length > 0 ? requiredFixes : issues.map(({ message }) => message);
      const failed = work.failed.map(({ command }) => command);
      return clipText([...fixes, ...blockers, ...failed, task, summary].join(' '), MAX_OPEN);
    });
}

/** True if the task was sent back, is blocked, has failed, or has failing tests. */
export function isOpenLedger({ requiredFixes, blockers, work, last, assessment }: TaskLedger): boolean {
  if (last.verdict === 'approved') return false;
  const isSentBack = requiredFixes.length > 0 || assessment === 'needs_changes' || assessment === 'blocked';
  return isSentBack || blockers.length > 0 || work.failed.length > 0 || last.verdict !== 'completed';
}

/** The session's own goal takes precedence over the run's. */
export function goalOf({ charter, run }: SessionState): string | undefined {
  return charter.goal ?? run?.goal;
}

const MAX_LINE = 500;
const MAX_DRIFT = 300;

/**
 * Renders the progress of a plan: `Plan: 12 of 40 done, next 3.2 Write the parser (last result: implementer_failed)`,
 * contradictions with results, and why the plan cannot be read now; empty without a plan.
 */
export function planProgress(state: SessionState, degraded?: string): string {
  const tasks = state.run?.document.tasks ?? [];
  const results = ledgersOf(state);
  const { total, completed } = totalsOf(tasks);
  if (total === 0) return '';
  const { planned, activeTaskId, whyNone } = outlook(state);
  const active = planned.find(({ task }) => task.id === activeTaskId)?.task;
  const where = active?.status === 'in-progress' ? 'in progress' : 'next';
  const none = whyNone === '' ? '' : `, none can be next (${whyNone})`;
  const task = active === undefined ? none : `, ${where} ${active.id} ${active.text}`;
  const last = results.get(active?.id ?? '')?.last;
  const result = last === undefined ? '' : ` (last result: ${outcomeName(last)})`;
  const text = quoted(`${planName(state)}: ${completed} of ${total} done${task}`);
  const line = `${clipText(text, MAX_LINE - result.length)}${result}${olderPlan(degraded)}`;
  const drift = driftOf(tasks, results).map(({ message }) => message);
  return drift.length === 0 ? line : `${line}. Drift: ${clipText(quoted(drift.join('; ')), MAX_DRIFT)}`;
}

/** Renders `Plan: 12 of 40 done, 2 more approved`. The next task is not named: an agent could take it for its own. */
export function planOfTask(state: SessionState, taskId: string, degraded?: string): string {
  const tasks = state.run?.document.tasks ?? [];
  if (!tasks.some(({ id }) => id === taskId)) return '';
  const { total, completed } = totalsOf(tasks);
  const approved = driftOf(tasks, ledgersOf(state)).filter(({ kind }) => kind === 'approved_but_open').length;
  const more = approved === 0 ? '' : `, ${approved} more approved`;
  return `${planName(state)}: ${completed} of ${total} done${more}${olderPlan(degraded)}`;
}

/** Says which version of the plan is known, if git tells: people may have several. */
function planName({ run }: SessionState): string {
  if (run?.version === undefined) return 'Plan';
  const [commit] = run.version.commits;
  return commit === undefined ? 'Plan (not committed)' : `Plan (commit ${commit.slice(0, 7)})`;
}

/** Says that the plan is as it was read last, and why. */
function olderPlan(degraded: string | undefined): string {
  if (degraded === undefined) return '';
  return `. The plan cannot be read now, and may have changed: ${clipText(quoted(degraded), MAX_DRIFT)}`;
}
