import { type DispatchRequest, includes } from '../contracts/compile-request.js';
import type { Role } from '../contracts/kinds.js';
import { ledgersOf, type SessionState } from '../memory/session/session-state.js';
import { hashOf } from '../shared/hash.js';
import { clipText, counted, quoted, shellWord } from '../shared/text.js';
import {
  barePacket,
  deltaPacket,
  packetItems,
  packetLines,
  packetStretches,
  shownPacket,
} from './delta-packet.js';
import {
  beginnings,
  type Item,
  leftOutLine,
  projectOption,
  type Shown,
  type ShownItem,
  type Stretch,
  textOf,
  titled,
  wholeItems,
} from './prompt-items.js';
import { type CompiledAs, joinedParts, type PromptBudget, type PromptDescriptor } from './prompt-kind.js';
import { learningsPart } from './prompt-report.js';
import { stablePrefix } from './role-contract.js';
import { guideLine, replanLines, unreadableLine } from './role-lines.js';
import { NOTE_SECTIONS } from './session-notes.js';
import { answerItems, saidItems, withPlanText } from './task-text.js';
import { planOfTask } from './what-is-ahead.js';

/**
 * A dispatch prompt: the stable prefix of the role, then the dynamic tail: task, a note on an unreadable result,
 * questions with their answers, words of people and other agents, delta packet, replan section, guide, learnings,
 * session context, recent steps, task prompt. Empty parts are left out.
 *
 * The budget is filled by importance: objective, blockers and required fixes always; then first instructions,
 * constraints, and the best of each kind of memory; then the rest of the task prompt; then the rest.
 */
const SECTIONS = [
  'task',
  'answers',
  'required_fixes',
  'blockers',
  'places',
  'ledger',
  'replan',
  'guide',
  'said',
  'history',
  'learnings',
  ...NOTE_SECTIONS,
  'recent',
] as const;
type Section = (typeof SECTIONS)[number];

/** Number of items of each kind before the rest of the task prompt. */
const BEST: readonly Stretch<Section>[] = [
  { section: 'findings', most: 3 },
  { section: 'files', most: 5 },
  { section: 'decisions', most: 3 },
  { section: 'failed', most: 2 },
  { section: 'learnings', most: 1 },
  { section: 'work', most: 2 },
  { section: 'tests', most: 2 },
];

const REST: readonly Stretch<Section>[] = [
  { section: 'findings' },
  { section: 'learnings' },
  { section: 'decisions' },
  { section: 'failed' },
  { section: 'files' },
  { section: 'facts' },
  { section: 'tests' },
  { section: 'perhaps' },
  { section: 'work' },
  { section: 'requirements' },
  { section: 'recent', backwards: true },
];

type Own = Pick<CompiledAs<'dispatch'>, 'kind' | 'messages' | 'stablePrefixHash' | 'fullPromptHash'>;

export const DISPATCH: PromptDescriptor<DispatchRequest, Section, Own> = {
  asks: ({ role, budget: asked, taskId, activeIntentId }, budget) => ({
    name: `the ${role} prompt`,
    ...dispatchRoom(budget, role, asked),
    taskId,
    intent: activeIntentId,
  }),
  draft({ state, request, memory, learnings, trace, notesPart, notesLeftOut }) {
    const { taskId, role, taskPrompt = '', binary } = request;
    const stable = request.systemPrompt ?? stablePrefix(role);
    const unreadable = unreadableLine(state, taskId, role);
    const whole = deltaPacket(state, taskId, role);
    const packet = packetItems(whole, barePacket(state, taskId));
    const worth = packetStretches(packet, role);
    const task = taskTextOf(withPlanText(state, taskId, taskPrompt));
    const known = ledgersOf(state).get(taskId);
    const ofTask = { origin: { task: taskId } };
    const ofLedger = {
      origin: { task: taskId, ...(known !== undefined && { dispatch: known.last.sequence }) },
    };
    const leftOut = (shown: Shown<Section>) =>
      leftOutLine([
        {
          name: 'the ledger',
          items: [...packet.places, ...packet.ledger],
          shown: [...shown.places, ...shown.ledger],
          command: `${binary} status ${state.session} --task ${shellWord(quoted(taskId))}`,
        },
        {
          name: 'the learnings',
          items: memory.learnings,
          total: memory.totals.learnings,
          shown: shown.learnings,
          command: `${binary} learning ls${projectOption(request.project ?? state.charter.project)}`,
        },
        notesLeftOut(memory.sections, shown),
        ...trace.leftOut(shown.history, shown.recent),
      ]);
    const tailOf = (shown: Shown<Section>) => {
      const fields = shownPacket(packet, shown);
      return [
        {
          section: 'head',
          text: [headLine(state, taskId, task.objective), planOfTask(state, taskId, request.degraded)]
            .filter(Boolean)
            .join('\n'),
          ...ofTask,
        },
        { section: 'unreadable', text: unreadable, ...ofTask },
        { section: 'answers', text: titled('Questions of this task:', shown.answers), ...ofLedger },
        { section: 'said', text: titled('Said by people and other agents:', shown.said) },
        { section: 'ledger', text: soFar(packetLines(fields)), ...ofLedger },
        { section: 'replan', text: textOf(shown.replan), ...ofLedger },
        {
          section: 'guide',
          text: shown.guide.length === 0 ? '' : guideLine(state, taskId, role, fields),
          ...ofLedger,
        },
        learningsPart(learnings, shown.learnings),
        notesPart(shown),
        trace.recentPart(shown.recent),
        { section: 'left_out', text: leftOut(shown) },
        { section: 'task', text: `Task prompt:\n${writtenTask(task, shown.task)}`, ...ofTask },
      ];
    };
    return {
      sections: {
        ...memory.sections,
        ...{ required_fixes: packet.required_fixes, blockers: packet.blockers, places: packet.places },
        ledger: packet.ledger,
        answers: answerItems(state, taskId),
        said: saidItems(state, taskId, taskPrompt),
        replan: wholeItems(replanLines(state, taskId, role)),
        guide: wholeItems([guideLine(state, taskId, role, whole)]),
        history: trace.history,
        learnings: memory.learnings,
        recent: trace.recent,
        task: task.lines,
      },
      totals: memory.totals,
      essential: [{ section: 'answers' }, { section: 'required_fixes' }, { section: 'blockers' }],
      order: [
        ...[{ section: 'guide' as const }, { section: 'replan' as const }, { section: 'places' as const }],
        { section: 'said' },
        ...worth.first,
        { section: 'task', only: task.constraints },
        ...worth.next,
        { section: 'history', only: trace.demands },
        ...BEST,
        { section: 'history' },
        { section: 'task' },
        ...REST,
      ],
      compacted: 'history',
      parts: (shown) => [
        { section: 'history', text: trace.written(shown.history), message: 'system' },
        { section: 'prefix', text: stable, message: 'system' },
        ...tailOf(shown),
      ],
      own: (_, parts, prompt) => ({
        kind: 'dispatch',
        ...(includes(request, 'messages') && {
          messages: [
            { role: 'system', content: joinedParts(parts.filter(({ message }) => message === 'system')) },
            { role: 'user', content: joinedParts(parts.filter(({ message }) => message !== 'system')) },
          ],
        }),
        stablePrefixHash: hashOf(stable),
        fullPromptHash: hashOf(prompt),
      }),
    };
  },
};

/** Returns the input budget and the output limit: as requested, else by the cap of the role. */
export function dispatchRoom(
  { caps, maxOutputTokens }: PromptBudget,
  role: Role,
  asked: DispatchRequest['budget'] = {},
) {
  const outputTokens = asked.outputTokens ?? maxOutputTokens;
  return { room: asked.inputTokens ?? Math.max(0, caps[role] - outputTokens), outputTokens };
}

function soFar(text: string): string {
  return text === '' ? '' : `So far:\n${text}`;
}

const MAX_TITLE = 120;

/** Names the task, its round after a review, and its first line. */
function headLine(state: SessionState, taskId: string, objective: string): string {
  const loops = ledgersOf(state).get(taskId)?.approvalLoops ?? 0;
  const planned = state.run?.document.tasks.find(({ id }) => id === taskId)?.text;
  const [first = ''] = (planned ?? state.board.tasks.get(taskId)?.content ?? objective).trim().split('\n', 1);
  const round = loops === 0 ? '' : `, round ${loops + 1}`;
  return `Task ${quoted(taskId)}${round}: ${clipText(quoted(first), MAX_TITLE)}`;
}

/**
 * Splits a task prompt into lines. Its objective, the first paragraph, is essential; its constraints, lines with words
 * such as "must", come next.
 */
const CONSTRAINT =
  /\b(must|never|always|only|do not|don't|shall|required?|requirements?|restrictions?|constraints?|acceptance|success|at most|at least|limit|forbidden)\b|必须|不得|禁止|必ず|禁止/i;

interface TaskText {
  /** Original text. */
  readonly whole: string;
  readonly objective: string;
  /** The non-empty lines after the objective. */
  readonly lines: readonly Item[];
  /** Indexes of the constraints. */
  readonly constraints: ReadonlySet<number>;
}

function taskTextOf(taskPrompt: string): TaskText {
  const text = taskPrompt.trim();
  const objective = text.split(/\n\s*\n/, 1)[0] ?? '';
  const lines = text
    .slice(objective.length)
    .split('\n')
    .filter((line) => line.trim() !== '');
  return {
    whole: taskPrompt,
    objective,
    lines: lines.map((line) => ({ whole: line, forms: beginnings(line) })),
    constraints: new Set(lines.flatMap((line, index) => (CONSTRAINT.test(line) ? [index] : []))),
  };
}

function writtenTask({ whole, objective, lines }: TaskText, shown: readonly ShownItem[]): string {
  const gone = lines.length - shown.length;
  const isCut = shown.some((line) => !line.whole);
  if (gone === 0 && !isCut) return whole;
  const kept: string[] = [objective];
  let next = 0;
  for (const { index, text } of shown) {
    if (index > next) kept.push(GAP);
    kept.push(text);
    next = index + 1;
  }
  if (next < lines.length) kept.push(GAP);
  const note = [
    ...(gone > 0 ? [`${counted(gone, 'further line')} of the task left out for space`] : []),
    ...(isCut ? ['a long line is cut'] : []),
  ];
  return [...kept, `(${note.join('; ')})`].join('\n');
}

const GAP = '...';
