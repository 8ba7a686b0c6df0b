import { type DispatchRequest, includes } from '../contracts/compile-request.js';
import type { Role } from '../contracts/kinds.js';
import { stablePrefix } from '../contracts/kinds.js';
import { ledgersOf } from '../memory/session/session-state.js';
import { hashOf } from '../shared/hash.js';
import { counted, quoted, shellWord } from '../shared/text.js';
import {
  allOf,
  allShown,
  beginnings,
  type Item,
  type ShownItem,
  type Stretch,
  textOf,
  titled,
  upTo,
  wholeItems,
} from './fill-prompt.js';
import {
  type CommonSection,
  type CompiledAs,
  joinedParts,
  type PromptBudget,
  type PromptDescriptor,
} from './prompt-kind.js';
import { deltaPacket, guideLine, replanLines, unreadableLine } from './role-lines.js';
import { answerItems, planOfTask, saidItems, withPlanText } from './task-text.js';

/**
 * A dispatch prompt: the stable prefix of the role, then the dynamic tail: task, a note on an unreadable result,
 * questions with their answers, words of people and other agents, delta packet, replan section, guide, learnings,
 * session context, recent steps, task prompt. Empty parts are left out.
 *
 * The budget is filled by importance: objective, blockers and required fixes always; then first instructions,
 * constraints, and the best of each kind of memory; then the rest of the task prompt; then the rest.
 */
type Section = 'task' | 'answers' | 'ledger' | 'replan' | 'guide' | 'said' | CommonSection;

/** Number of items of each kind before the rest of the task prompt. */
const BEST: readonly Stretch<Section>[] = [
  ...upTo<Section>({ findings: 3, files: 5, decisions: 3, failed: 2, learnings: 1, work: 2, tests: 2 }),
];

const REST: readonly Stretch<Section>[] = [
  ...allOf<Section>('findings', 'learnings', 'decisions', 'failed', 'files', 'facts', 'tests', 'perhaps'),
  ...allOf<Section>('work', 'requirements'),
  { section: 'recent', backwards: true },
];

type Own = Pick<CompiledAs<'dispatch'>, 'kind' | 'messages' | 'stablePrefixHash' | 'fullPromptHash'>;

export const DISPATCH: PromptDescriptor<DispatchRequest, Section, Own> = {
  asks: ({ role, budget: limits, taskId, activeIntentId }, budget) => ({
    name: `the ${role} prompt`,
    ...dispatchRoom(budget, role, limits),
    taskId,
    intent: activeIntentId,
  }),
  draft({ state, request, demands }) {
    const { taskId, role, taskPrompt = '', binary } = request;
    const stable = request.systemPrompt ?? stablePrefix(role);
    const packet = deltaPacket(state, taskId, role);
    const guide = (shown: readonly ShownItem[]) => guideLine(state, taskId, role, packet.fieldsOf(shown));
    const task = taskTextOf(withPlanText(state, taskId, taskPrompt));
    const known = ledgersOf(state).get(taskId);
    const origin = { task: taskId };
    const ofLedger = { origin: { ...origin, ...(known !== undefined && { dispatch: known.last.sequence }) } };
    const loops = known?.approvalLoops ?? 0;
    const name = `Task ${quoted(taskId)}${loops === 0 ? '' : `, round ${loops + 1}`}`;
    const head = [name, planOfTask(state, taskId, request.degraded)].filter(Boolean);
    return {
      sections: {
        ledger: packet.items,
        answers: answerItems(state, taskId),
        said: saidItems(state, taskId, taskPrompt),
        replan: wholeItems(replanLines(state, taskId, role)),
        guide: wholeItems([guide(allShown(packet.items))]),
        task: task.lines,
      },
      essential: [{ section: 'answers' }, packet.essential],
      order: [
        ...allOf<Section>('guide', 'replan', 'said'),
        ...packet.first,
        { section: 'task', only: task.constraints },
        ...packet.next,
        { section: 'compacted', only: demands },
        ...BEST,
        { section: 'compacted' },
        { section: 'task' },
        ...REST,
      ],
      lists: [
        {
          ...{ name: 'the ledger', sections: ['ledger'] },
          command: `${binary} status ${state.session} --task ${shellWord(quoted(taskId))}`,
        },
      ],
      parts: (shown, { compacted, learnings, notes, recent, leftOut }) => [
        compacted,
        { section: 'prefix', text: stable, message: 'system' },
        { section: 'head', text: head.join('\n'), origin },
        { section: 'unreadable', text: unreadableLine(state, taskId, role), origin },
        { section: 'answers', text: titled('Questions of this task:', shown.answers), ...ofLedger },
        { section: 'said', text: titled('Said by people and other agents:', shown.said) },
        { section: 'ledger', text: packet.write(shown.ledger), ...ofLedger },
        { section: 'replan', text: textOf(shown.replan), ...ofLedger },
        { section: 'guide', text: shown.guide.length === 0 ? '' : guide(shown.ledger), ...ofLedger },
        ...[learnings, notes, recent, leftOut],
        { section: 'task', text: `Task prompt:\n${writtenTask(task, shown.task)}`, origin },
      ],
      replyFields: (_, parts, prompt) => ({
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
  limits: DispatchRequest['budget'] = {},
) {
  const outputTokens = limits.outputTokens ?? maxOutputTokens;
  return { room: limits.inputTokens ?? Math.max(0, caps[role] - outputTokens), outputTokens };
}

/**
 * Splits a task prompt into lines. Its objective, the first paragraph, is essential; its constraints, lines with words
 * such as "must", come next.
 */
const CONSTRAINT =
  /\b(must|never|always|only|do not|don't|shall|required?|requirements?|restrictions?|constraints?|acceptance|success|at most|at least|limit|forbidden)\b|必须|不得|禁止|必ず|禁止/i;

function taskTextOf(taskPrompt: string) {
  const text = taskPrompt.trim();
  const objective = text.split(/\n\s*\n/, 1)[0] ?? '';
  const lines = text
    .slice(objective.length)
    .split('\n')
    .filter((line) => line.trim() !== '');
  return {
    whole: taskPrompt,
    objective,
    /** The non-empty lines after the objective. */
    lines: lines.map((line): Item => ({ whole: line, forms: beginnings(line) })),
    constraints: new Set(lines.flatMap((line, index) => (CONSTRAINT.test(line) ? [index] : []))),
  };
}

function writtenTask(
  { whole, objective, lines }: ReturnType<typeof taskTextOf>,
  shown: readonly ShownItem[],
): string {
  const dropped = lines.length - shown.length;
  const isCut = shown.some((line) => !line.whole);
  if (dropped === 0 && !isCut) return whole;
  const kept: string[] = [objective];
  let next = 0;
  for (const { index, text } of shown) {
    if (index > next) kept.push(GAP);
    kept.push(text);
    next = index + 1;
  }
  if (next < lines.length) kept.push(GAP);
  const note = [
    ...(dropped > 0 ? [`${counted(dropped, 'further line')} of the task left out for space`] : []),
    ...(isCut ? ['a long line is cut'] : []),
  ];
  return [...kept, `(${note.join('; ')})`].join('\n');
}

const GAP = '...';
