import type { IterationRequest } from '../contracts/compile-request.js';
import { ThroughlineError } from '../contracts/errors.js';
import type { BudgetReport } from '../contracts/replies/budget-report.js';
import { type LearningsInPrompt, NO_LEARNINGS } from '../learnings/format-learnings.js';
import type { Charter } from '../session/charter.js';
import { currentNumber, type IterationHistory, newest } from '../session/iterations.js';
import { factsOf, type SessionState, tracesOf } from '../session/session-state.js';
import { taskCounts } from '../session/task-counts.js';
import { recordOf } from '../shared/record-of.js';
import { quoted } from '../shared/text.js';
import { compactedReport, RECENT_STEPS, recentLines, summarise } from '../traces/trace-summary.js';
import { chosenFacts, type TellFacts } from './chosen-facts.js';
import { compactedItems } from './compacted-items.js';
import type { CompiledAs } from './compiled-prompt.js';
import { describeConsidered } from './considered.js';
import { describeFacts } from './described-facts.js';
import { describeLearnings, learningItems, learningsShown } from './described-learnings.js';
import { beginnings } from './excerpt.js';
import { fillPrompt, type PromptPlan, type Shown, type Stretch, wholeItems } from './fill-prompt.js';
import {
  formatGoal,
  formatHistory,
  formatInbox,
  formatNotes,
  formatSpec,
  formatTasks,
  goalList,
  historyList,
  ITERATION_LISTS,
  inboxList,
  learningsCommand,
  noteList,
  specList,
  taskLists,
  toolCommand,
} from './iteration-sections.js';
import { ITERATION_TEMPLATE } from './iteration-template.js';
import { leftOutLine, shellWord } from './left-out.js';
import { planProgress } from './plan-progress.js';
import { DEFAULT_ROOM, type PromptBudget, promptOverflow } from './prompt-budget.js';
import { describeLines, joinedParts, learningsPart, notesPart, type PromptPart } from './prompt-parts.js';
import { placeholdersOf, renderTemplate, unknownPlaceholders } from './render-template.js';
import {
  bestFirst,
  cappedMemory,
  describeFiles,
  FILLER,
  factsShown,
  filesShown,
  NOTE_SECTIONS,
  notesLeftOut,
} from './session-notes.js';
import { goalOf, memoryAhead } from './what-is-ahead.js';

/** Names that an iteration template may use. */
export const ITERATION_VARIABLES = [
  'session',
  'iteration',
  'begin',
  'goal',
  'plan',
  'ready_count',
  'blocked_count',
  'completed_count',
  'history',
  'spec',
  'inbox',
  'notes',
  'tasks',
  'binary',
  'extra',
  'sessionContext',
  'learnings',
] as const;
type Variable = (typeof ITERATION_VARIABLES)[number];
/** Those that hold lists of the session. */
const LISTED = ['goal', 'plan', 'inbox', 'spec', 'history', 'notes', 'tasks'] as const;

const SECTIONS = ['plan', 'compacted', ...ITERATION_LISTS, ...NOTE_SECTIONS, 'learnings', 'recent'] as const;
type Section = (typeof SECTIONS)[number];

/** What the work is for and what is demanded of it, the tasks to choose from, then the best few of each kind of memory. */
const BEST: readonly Stretch<Section>[] = [
  { section: 'goal' },
  { section: 'plan' },
  { section: 'findings', most: 3 },
  { section: 'requirements', most: 2 },
  { section: 'in_progress', most: 5 },
  { section: 'ready', most: 5 },
  { section: 'inbox', most: 3 },
  { section: 'history', most: 1 },
  { section: 'files', most: 5 },
  { section: 'decisions', most: 3 },
  { section: 'notes', most: 5, backwards: true },
  { section: 'work', most: 2 },
  { section: 'tests', most: 2 },
  { section: 'learnings', most: 1 },
  { section: 'compacted' },
];

const REST: readonly Stretch<Section>[] = [
  { section: 'ready', most: 20 },
  { section: 'in_progress', most: 20 },
  { section: 'inbox', most: 5 },
  { section: 'history' },
  { section: 'findings' },
  { section: 'decisions' },
  { section: 'learnings' },
  { section: 'tests' },
  { section: 'work' },
  { section: 'files' },
  { section: 'requirements' },
  { section: 'facts' },
  { section: 'notes', most: 20, backwards: true },
  { section: 'blocked', most: 5 },
  { section: 'waiting', most: 5 },
  { section: 'completed', most: 3 },
  { section: 'recent', backwards: true },
  { section: 'inbox', most: 10 },
  { section: 'spec' },
  { section: 'in_progress' },
  { section: 'ready', most: 100 },
  { section: 'inbox' },
  { section: 'ready' },
  { section: 'waiting' },
  { section: 'blocked' },
  { section: 'completed' },
  { section: 'notes', backwards: true },
];

/** A spec of so many characters comes whole before the rest of the memory; of a longer one only these lines do. */
const SHORT_SPEC = 4000;
const OUTLINE_LINES = 60;
const FIRST_LINES = 10;

/**
 * Compiles an iteration prompt: the template, its lists filled by value. It depends on state and request alone, so ages are
 * only in it where the request says what time it is.
 *
 * @throws ThroughlineError `template_invalid` that names each unknown placeholder, `prompt_overflow` when not even the
 * template fits
 */
export function compileIteration(
  state: SessionState,
  request: IterationRequest,
  { tokenizer, maxSummaryTokens }: PromptBudget,
  known?: LearningsInPrompt,
  tell?: TellFacts,
): CompiledAs<'iteration'> {
  const template = request.template ?? ITERATION_TEMPLATE;
  checkTemplate(template);
  const used = placeholdersOf(template);
  const { board, notebook, history, charter, session, run, dispatches } = state;
  const { binary, now, activeIntentId, maxTokens } = request;
  const usual = DEFAULT_ROOM.iteration;
  const room = request.budget?.inputTokens ?? usual;
  const command = (words: string) => toolCommand(binary, session, words);
  const learnings = known ?? NO_LEARNINGS;
  const memory = cappedMemory(
    memoryAhead(state, { ...request, taskId: request.taskId ?? '' }, request.taskPrompt, { room, usual }),
    learningItems(learnings),
    maxTokens,
  );
  const trace = activeIntentId === undefined ? undefined : tracesOf(state).intents.get(activeIntentId);
  const summary = trace === undefined ? null : summarise(trace, tokenizer, maxSummaryTokens);
  const past = compactedItems(summary);
  const tasks = taskLists(board, command);
  const lists = {
    ...tasks,
    goal: goalList(goalOf(state), command),
    spec: specList(charter, command),
    history: historyList(history, board, now, command),
    inbox: inboxList(notebook, now, command),
    notes: noteList(notebook, command),
  };
  const plan = planProgress(run, dispatches.current().ledgers);
  const counts = taskCounts(state).board;

  const context = (shown: Shown<Section>) => notesPart(memory, shown, { session, binary });
  const shownLearnings = (shown: Shown<Section>) => learningsPart(learnings, shown.learnings);
  const valuesOf = (shown: Shown<Section>): Record<Variable, string> => {
    const goal = formatGoal(lists.goal, shown.goal);
    return {
      session,
      iteration: String(currentNumber(history)),
      begin: isRunning(history) ? '' : `0. **Begin the iteration** - \`${command('iteration-start')}\``,
      goal,
      plan: shown.plan.map(({ text }) => text).join(''),
      ready_count: String(counts.ready),
      blocked_count: String(counts.waiting),
      completed_count: String(counts.completed),
      history: formatHistory(history, lists.history, shown.history),
      spec:
        lists.spec.total === 0 && !used.has('goal') && goal !== ''
          ? goal.replace(/^Goal: /, '')
          : formatSpec(lists.spec, shown.spec),
      inbox: formatInbox(lists.inbox, shown.inbox),
      notes: formatNotes(notebook, lists.notes, shown.notes),
      tasks: formatTasks(tasks, shown),
      binary,
      extra: request.extra ?? '',
      sessionContext: context(shown).text,
      learnings: shownLearnings(shown).text,
    };
  };
  const items = <Shape>(variable: Variable, some: readonly Shape[]) => (used.has(variable) ? some : []);
  const trail = `${binary} trace show ${session} --intent ${shellWord(quoted(activeIntentId ?? ''))}`;
  const filling: PromptPlan<Section> = {
    sections: {
      plan: items('plan', wholeItems(plan === '' ? [] : [plan])),
      compacted: past.items,
      goal: used.has('goal') || lists.spec.total === 0 ? lists.goal.items : [],
      spec: items('spec', lists.spec.items),
      history: items('history', lists.history.items),
      inbox: items('inbox', lists.inbox.items),
      notes: items('notes', lists.notes.items),
      ready: items('tasks', tasks.ready.items),
      waiting: items('tasks', tasks.waiting.items),
      in_progress: items('tasks', tasks.in_progress.items),
      blocked: items('tasks', tasks.blocked.items),
      completed: items('tasks', tasks.completed.items),
      ...recordOf(NOTE_SECTIONS, (name) => items('sessionContext', memory.sections[name])),
      learnings: items('learnings', memory.learnings),
      recent: (trace === undefined ? [] : recentLines(trace)).map((line) => ({ forms: beginnings(line) })),
    },
    essential: [],
    order: bestFirst([...BEST, ...specFirst(charter, lists.spec.outline), ...REST], memory),
    filler: { section: FILLER, room: usual },
    write: (shown) => {
      const { before, after } = partsOf(shown);
      const rendered = { section: 'template', text: renderTemplate(template, valuesOf(shown)) };
      return joinedParts([before, rendered, ...after]);
    },
  };
  const partsOf = (shown: Shown<Section>) => ({
    before: { section: 'compacted', text: past.written(shown.compacted) },
    after: [
      {
        section: 'recent',
        text:
          shown.recent.length === 0 ? '' : [RECENT_STEPS, ...shown.recent.map(({ text }) => text)].join('\n'),
      },
      { section: 'left_out', text: leftOut(shown) },
    ],
  });
  /** What the template was filled with, each where the template shows it. */
  const filledIn = (shown: Shown<Section>): PromptPart[] => {
    const values = valuesOf(shown);
    const shownLists = LISTED.filter((name) => used.has(name));
    return [
      ...shownLists.map((name) => ({ section: name, text: values[name] })),
      ...(used.has('sessionContext') ? [context(shown)] : []),
      ...(used.has('learnings') ? [shownLearnings(shown)] : []),
    ];
  };
  // The other lists say it themselves.
  const leftOut = (shown: Shown<Section>) => {
    const { sections } = filling;
    const listed = (name: string, section: Section, command: string) => ({
      ...{ name, command },
      ...{ items: sections[section], shown: shown[section] },
    });
    return leftOutLine([
      listed('the plan', 'plan', `${binary} plan ${session}`),
      listed('the learnings', 'learnings', learningsCommand(binary, request.project ?? charter.project)),
      notesLeftOut({ ...memory, sections }, shown, { session, binary }),
      listed('the lines of the compacted history', 'compacted', trail),
      listed('the recent steps', 'recent', trail),
    ]);
  };
  const { shown, prompt, report } = fillPrompt(filling, room, tokenizer, (tokens) =>
    promptOverflow('the iteration prompt', tokens, room),
  );
  const facts = factsShown(memory, shown);
  const files = filesShown(memory, shown);
  tell?.(chosenFacts(memory, facts));
  return {
    kind: 'iteration',
    prompt,
    sessionContext: context(shown).text,
    ...describeFiles(files),
    ...describeFacts(facts, factsOf(state).count(), request.explain),
    ...(request.explain && {
      ...describeConsidered(memory, facts, files),
      ...describeLines(prompt, [partsOf(shown).before, ...filledIn(shown), ...partsOf(shown).after]),
    }),
    ...(known && describeLearnings(learningsShown(learnings, shown.learnings))),
    compacted: summary === null || shown.compacted.length === 0 ? null : compactedReport(summary),
    tokenEstimate: report.used,
    budget: countedWhole(report, { completed: tasks.completed.total, history: lists.history.total }),
  };
}

/** Of lists of which a prompt never shows more than the newest: all of them count. */
function countedWhole(report: BudgetReport, totals: Readonly<Record<string, number>>): BudgetReport {
  const sections = report.sections.map((section) => ({
    ...section,
    total: totals[section.name] ?? section.total,
  }));
  const dropped = sections.reduce((sum, { shown, total }) => sum + total - shown, 0);
  return { ...report, sections, dropped };
}

/** What of a spec comes first: a short one whole, of a long one the outline, else its beginning. */
function specFirst({ spec = '' }: Charter, outline: ReadonlySet<number>): Stretch<Section>[] {
  if (spec.length <= SHORT_SPEC) return [{ section: 'spec' }];
  return [
    outline.size === 0
      ? { section: 'spec', most: FIRST_LINES }
      : { section: 'spec', only: outline, most: OUTLINE_LINES },
  ];
}

/** Whether an iteration has begun that has not been summed up: else the agent begins one. */
function isRunning(history: IterationHistory): boolean {
  const last = newest(history);
  return last !== undefined && last.ended_at === undefined && last.summary === undefined;
}

/** @throws ThroughlineError `template_invalid` that names each unknown placeholder */
export function checkTemplate(template: string): void {
  const unknown = unknownPlaceholders(template, ITERATION_VARIABLES);
  if (unknown.length === 0) return;
  const named = unknown.map(({ name, line }) => `{{${name}}} in line ${line}`);
  throw new ThroughlineError(
    'template_invalid',
    `unknown placeholders: ${named.join(', ')}. Known: ${ITERATION_VARIABLES.join(', ')}`,
    { details: { unknown: unknown.map(({ name }) => name) } },
  );
}
