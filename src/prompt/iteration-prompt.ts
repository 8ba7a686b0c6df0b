import type { IterationRequest } from '../contracts/compile-request.js';
import type { Charter, Run } from '../memory/session/charter.js';
import { currentNumber, type IterationHistory, newest } from '../memory/session/iterations.js';
import { notesOf } from '../memory/session/notebook.js';
import { ledgersOf } from '../memory/session/session-state.js';
import { taskCounts } from '../memory/session/task-board.js';
import { recordOf } from '../shared/text.js';
import { allOf, type Shown, type Stretch, textOf, upTo, wholeItems } from './fill-prompt.js';
import {
  formatGoal,
  formatHistory,
  formatInbox,
  formatNotes,
  formatSpec,
  formatTasks,
  goalList,
  historyList,
  type IterationList,
  inboxList,
  noteList,
  planTaskLists,
  specList,
  taskLists,
} from './iteration-sections.js';
import {
  checkTemplate,
  ITERATION_TEMPLATE,
  PLAN_TEMPLATE,
  placeholdersOf,
  renderTemplate,
  type Variable,
} from './iteration-template.js';
import type { CommonSection, CompiledAs, PromptDescriptor, PromptPart } from './prompt-kind.js';
import { NOTE_SECTIONS } from './session-notes.js';
import { goalOf, planProgress } from './task-text.js';

/** Default token budget. */
const USUAL = 8000;

const LISTED = ['goal', 'plan', 'inbox', 'spec', 'history', 'notes', 'tasks'] as const;

const TASK_LISTS = ['ready', 'waiting', 'in_progress', 'blocked', 'completed'] as const;

type Section = 'plan' | IterationList | CommonSection;

/** Goal and demands, candidate tasks, then the best of each kind of memory. */
const BEST: readonly Stretch<Section>[] = [
  ...allOf<Section>('goal', 'plan'),
  ...upTo<Section>({ findings: 3, requirements: 2, in_progress: 5, ready: 5, inbox: 3, history: 1 }),
  ...upTo<Section>({ files: 5, decisions: 3, failed: 2 }),
  { section: 'notes', most: 5, backwards: true },
  ...upTo<Section>({ work: 2, tests: 2, learnings: 1 }),
  { section: 'compacted' },
];

const REST: readonly Stretch<Section>[] = [
  ...upTo<Section>({ ready: 20, in_progress: 20, inbox: 5 }),
  ...allOf<Section>('history', 'findings', 'decisions', 'failed', 'learnings', 'tests', 'work', 'files'),
  ...allOf<Section>('perhaps', 'requirements', 'facts'),
  { section: 'notes', most: 20, backwards: true },
  ...upTo<Section>({ blocked: 5, waiting: 5, completed: 3 }),
  { section: 'recent', backwards: true },
  { section: 'inbox', most: 10 },
  ...allOf<Section>('spec', 'in_progress'),
  { section: 'ready', most: 100 },
  ...allOf<Section>('inbox', 'ready', 'waiting', 'blocked', 'completed'),
  { section: 'notes', backwards: true },
];

/** A shorter spec precedes the rest of the memory; of a longer one only these lines do. */
const SHORT_SPEC = 4000;
const OUTLINE_LINES = 60;
const FIRST_LINES = 10;

/**
 * An iteration prompt: the template with its lists filled by importance. Depends only on state and request, so it has
 * ages only if the request has the time.
 */
export const ITERATION: PromptDescriptor<IterationRequest, Section, Pick<CompiledAs<'iteration'>, 'kind'>> = {
  asks: ({ budget, taskId = '', activeIntentId }) => ({
    name: 'the iteration prompt',
    room: budget?.inputTokens ?? USUAL,
    taskId,
    intent: activeIntentId,
  }),
  draft({ state, request, common, command }) {
    const { board, notebook, history, charter, session, run } = state;
    const isPlanned = run !== undefined && board.tasks.size === 0;
    const template = request.template ?? (isPlanned ? PLAN_TEMPLATE : ITERATION_TEMPLATE);
    checkTemplate(template);
    const used = placeholdersOf(template);
    const { binary, now } = request;
    const tasks = isPlanned
      ? planTaskLists(run.document.tasks, ledgersOf(state), `${binary} status ${session} --plan`)
      : taskLists(board, command);
    const whole = `${binary} status ${session} --json`;
    const goal = goalList(goalOf(state), whole);
    const spec = specList(specOf(charter, run), whole);
    const past = historyList(history, board, now, command);
    const inbox = inboxList(notebook, now, command);
    const ownNotes = [...notesOf(state).values()];
    const noted = noteList(ownNotes, command);
    const plan = planProgress(state, request.degraded);
    const counts = taskCounts(state).board;
    const steps = workflowSteps(isPlanned, charter.spec ?? charter.spec_path, command);
    const valuesOf = (shown: Shown<Section>, context: PromptPart, learned: PromptPart) => {
      const goalText = formatGoal(goal, shown.goal);
      return {
        session,
        iteration: String(currentNumber(history)),
        begin: isRunning(history) ? '' : `0. **Begin the iteration** - \`${command('iteration-start')}\``,
        goal: goalText,
        plan: textOf(shown.plan),
        ...steps,
        ready_count: String(counts.ready),
        blocked_count: String(counts.waiting),
        completed_count: String(counts.completed),
        history: formatHistory(history, past, shown.history),
        spec:
          spec.total === 0 && !used.has('goal') && goalText !== ''
            ? goalText.replace(/^Goal: /, '')
            : formatSpec(spec, shown.spec),
        inbox: formatInbox(inbox, shown.inbox),
        notes: formatNotes(ownNotes, noted, shown.notes),
        tasks: formatTasks(tasks, shown),
        binary,
        extra: request.extra ?? '',
        sessionContext: context.text,
        learnings: learned.text,
      } satisfies Record<Variable, string>;
    };
    const items = <Shape>(variable: Variable, some: readonly Shape[]) => (used.has(variable) ? some : []);
    const sections = {
      plan: items('plan', wholeItems(plan === '' ? [] : [plan])),
      goal: used.has('goal') || spec.total === 0 ? goal.items : [],
      spec: items('spec', spec.items),
      history: items('history', past.items),
      inbox: items('inbox', inbox.items),
      notes: items('notes', noted.items),
      ...recordOf(TASK_LISTS, (name) => items('tasks', tasks[name].items)),
      ...recordOf(NOTE_SECTIONS, (name) => items('sessionContext', common[name])),
      learnings: items('learnings', common.learnings),
    };
    return {
      sections,
      order: [...BEST, ...specFirst(charter, spec.outline), ...REST],
      // Lists that show only the newest count all.
      totals: {
        ...(used.has('tasks') && { completed: tasks.completed.total }),
        ...(used.has('history') && { history: past.total }),
      },
      lists: [{ name: 'the plan', sections: ['plan'], command: `${binary} status ${session} --plan` }],
      parts: (shown, { compacted, learnings, notes, recent, leftOut }) => {
        const values = valuesOf(shown, notes, learnings);
        return [
          compacted,
          {
            section: 'template',
            text: renderTemplate(template, values),
            inner: [
              ...LISTED.filter((name) => used.has(name)).map((name) => ({
                section: name,
                text: values[name],
              })),
              ...items('sessionContext', [notes]),
              ...items('learnings', [learnings]),
            ],
          },
          ...[recent, leftOut],
        ];
      },
      replyFields: () => ({ kind: 'iteration' }),
    };
  },
};

/** Returns the session's own specification, else what its plan says before the first task, with the design's path. */
function specOf(charter: Charter, run: Run | undefined): Pick<Charter, 'spec' | 'spec_path'> {
  const { preamble, design } = run?.document ?? {};
  if (charter.spec !== undefined || charter.spec_path !== undefined) return charter;
  if (preamble === undefined) return design === undefined ? {} : { spec_path: design };
  return { spec: design === undefined ? preamble : `${preamble}\nDesign: ${design}` };
}

/** Returns the steps that choose and finish a task: a plan's task is claimed and ticked in the plan. */
function workflowSteps(isPlanned: boolean, spec: string | undefined, command: (words: string) => string) {
  if (isPlanned)
    return {
      pick: '**Pick ONE ready task of the plan above** - the one that the plan names as next, unless you were given another one',
      finish: '**Tick its line in the plan** - only when the work is complete and tested',
    };
  const add = spec === undefined ? '' : ', after adding any missing spec tasks via task-add';
  return {
    pick: `**Pick ONE ready task** - \`${command('task-next --claim AGENT')}\` takes the most urgent one and marks it in_progress${add}. With none ready or in progress, go to step 5: the summary says what blocks`,
    finish: `**Mark completed** - \`${command('task-status --id TASK_ID --status completed')}\``,
  };
}

/** Returns the part of a spec that comes first: a short one whole, else its outline, else its beginning. */
function specFirst({ spec = '' }: Charter, outline: ReadonlySet<number>): Stretch<Section>[] {
  if (spec.length <= SHORT_SPEC) return [{ section: 'spec' }];
  if (outline.size === 0) return [{ section: 'spec', most: FIRST_LINES }];
  return [{ section: 'spec', only: outline, most: OUTLINE_LINES }];
}

/** True if an iteration was started and not summarized; else the agent starts one. */
function isRunning(history: IterationHistory): boolean {
  const last = newest(history);
  return last !== undefined && last.ended_at === undefined && last.summary === undefined;
}
