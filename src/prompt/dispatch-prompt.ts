import { type DispatchRequest, includes } from '../contracts/compile-request.js';
import { KINDS, type Kind, kindOf, type Role, stablePrefix } from '../contracts/kinds.js';
import type { StallSignal } from '../contracts/session-meta-events.js';
import { driftOf, outlookOf } from '../ledger/next-task.js';
import type { DigestIssue } from '../ledger/outcome-digest.js';
import { isSentBack, plainBlockers, signalsOf, type TaskLedger, type Try } from '../ledger/task-ledger.js';
import { tokens } from '../memory/search/tokens.js';
import { ledgersOf, rejectionsOf, type SessionState, unreadOf } from '../memory/session/session-state.js';
import { hashOf } from '../shared/hash.js';
import { clipText, counted, distinctTexts, oneSpelling, quoted, shellWord } from '../shared/text.js';
import {
  allOf,
  allShown,
  beginnings,
  type Item,
  line,
  MAX_LINE,
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
import { answerItems, messageItems, planOfTask, withPlanText } from './task-text.js';

/**
 * A dispatch prompt: the stable prefix of the role, then the dynamic tail: task, a note on an unreadable result,
 * questions with their answers, words of people and other agents, delta packet, replan section, guide, learnings,
 * session context, recent steps, task prompt. Empty parts are left out.
 *
 * The budget is filled by importance: objective, blockers and required fixes always; then first instructions,
 * constraints, and the best of each kind of memory; then the rest of the task prompt; then the rest.
 */
type Section = 'task' | 'answers' | 'ledger' | 'replan' | 'guide' | 'unread' | CommonSection;

/** Number of items of each kind before the rest of the task prompt. */
const BEST = upTo<Section>({
  findings: 3,
  files: 5,
  decisions: 3,
  failed: 2,
  learnings: 1,
  work: 2,
  tests: 2,
});

const REST: readonly Stretch<Section>[] = [
  ...allOf<Section>('findings', 'learnings', 'decisions', 'failed', 'files', 'facts', 'tests', 'perhaps'),
  ...allOf<Section>('work', 'requirements'),
  { section: 'recent', backwards: true },
];

type Fields = Pick<CompiledAs<'dispatch'>, 'kind' | 'messages' | 'stablePrefixHash' | 'fullPromptHash'>;

export const DISPATCH: PromptDescriptor<DispatchRequest, Section, Fields> = {
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
    // A ledger of several results does not say which of them a line is from.
    const only = known?.dispatches === 1 ? { dispatch: known.last.sequence } : {};
    const ofLedger = { origin: { ...origin, ...only } };
    const loops = known?.approvalLoops ?? 0;
    const name = `Task ${quoted(taskId)}${loops === 0 ? '' : `, round ${loops + 1}`}`;
    const head = [name, planOfTask(state, taskId, request.degraded)].filter(Boolean);
    return {
      sections: {
        ledger: packet.items,
        answers: answerItems(state, taskId),
        unread: messageItems(state, taskId, taskPrompt),
        replan: wholeItems(replanLines(state, taskId, role)),
        guide: wholeItems([guide(allShown(packet.items))]),
        task: task.lines,
      },
      essential: [{ section: 'answers' }, packet.essential],
      order: [
        ...allOf<Section>('guide', 'replan', 'unread'),
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
          name: 'the ledger',
          sections: ['ledger'],
          command: `${binary} status ${state.session} --task ${shellWord(quoted(taskId))}`,
        },
      ],
      parts: (shown, { compacted, learnings, notes, recent, leftOut }) => [
        compacted,
        { section: 'prefix', text: stable, message: 'system' },
        { section: 'head', text: head.join('\n'), origin },
        { section: 'unreadable', text: unreadableLine(state, taskId, role), origin },
        { section: 'answers', text: titled('Questions of this task:', shown.answers), ...ofLedger },
        { section: 'unread', text: titled('Said by people and other agents:', shown.unread) },
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
function dispatchRoom(
  { caps, maxOutputTokens }: PromptBudget,
  role: Role,
  limits: DispatchRequest['budget'] = {},
) {
  const outputTokens = limits.outputTokens ?? maxOutputTokens;
  return { room: limits.inputTokens ?? Math.max(0, caps[role] - outputTokens), outputTokens };
}

/** Splits a task prompt into lines: its first paragraph is essential; lines with words such as "must" come next. */
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

/** The delta packet: the ledgers' knowledge of a task, by field in prompt order; fixes and blockers are essential. */
const TITLES = {
  required_fixes: 'Required fixes',
  blockers: 'Blockers',
  issues: 'Findings of the last review',
  assessment: 'Last review',
  plan: 'In the plan',
  summary: 'Last result',
  earlier_summary: 'First result',
  changed_files: 'Changed files',
  failing_tests: 'Failing tests',
  passing_tests: 'Passing tests',
  /** Instead of the passing tests, if the review sent the work back. */
  refuted_tests: 'Tests sent back',
  follow_ups: 'Follow-ups',
} as const;

type PacketField = keyof typeof TITLES;
const FIELDS = Object.keys(TITLES) as PacketField[];

/** Fields of one text, and lists that take one line. The others are lists. */
const SINGLE: ReadonlySet<PacketField> = new Set(['assessment', 'plan', 'summary', 'earlier_summary']);
const ON_ONE_LINE: ReadonlySet<PacketField> = new Set(['changed_files', 'passing_tests', 'refuted_tests']);

interface PacketEntry {
  readonly field: PacketField;
  readonly text: string;
}

/** Fields by importance to an agent that works, and to one that looks at the work of another. */
const WORK_ORDER: readonly (readonly PacketField[])[] = [
  ['failing_tests', 'changed_files'],
  ['assessment', 'issues', 'summary', 'earlier_summary', 'plan'],
];
const LOOKING_ORDER: readonly (readonly PacketField[])[] = [
  ['changed_files', 'failing_tests', 'summary', 'issues'],
  ['earlier_summary', 'follow_ups', 'passing_tests', 'refuted_tests', 'assessment', 'plan'],
];

const MAX_TEXT = 300;
/** A demand keeps all of its event's text, plus file and suggested fix. */
const MAX_LOCATED = MAX_LINE + 2 * MAX_TEXT;
const MAX_FILES = 20;

function deltaPacket(state: SessionState, taskId: string, role: Role) {
  const { part } = kindOf(role);
  const entries = entriesOf(state, taskId, part);
  const stretch = (...fields: readonly PacketField[]): Stretch<'ledger'> => ({
    section: 'ledger',
    only: new Set(entries.flatMap(({ field }, index) => (fields.includes(field) ? [index] : []))),
  });
  const [first = [], next = []] = (part === 'work' ? WORK_ORDER : LOOKING_ORDER).map((fields) =>
    fields.map((field) => stretch(field)),
  );
  const fieldOf = ({ index }: ShownItem) => entries[index]?.field;
  return {
    items: entries.map(({ text }) => ({ forms: beginnings(text) })),
    essential: stretch('required_fixes', 'blockers'),
    /** These come after the essentials, and before what is known of other tasks. */
    first,
    next,
    fieldsOf: (shown: readonly ShownItem[]) => new Set(shown.flatMap((item) => fieldOf(item) ?? [])),
    /** Renders what is shown: a title, and the entries of a list below it; a shortened list ends with the number left out. */
    write: (shown: readonly ShownItem[]) => {
      const lines = FIELDS.flatMap((field) => {
        const texts = shown.filter((item) => fieldOf(item) === field).map(({ text }) => text);
        if (texts.length === 0) return [];
        const left = entries.filter((entry) => entry.field === field).length - texts.length;
        const all = left > 0 ? [...texts, `${left} more`] : texts;
        const title = TITLES[field];
        if (SINGLE.has(field) || ON_ONE_LINE.has(field)) return [`${title}: ${all.join(', ')}`];
        return [`${title}:`, ...all.map((text) => `- ${text}`)];
      });
      return lines.length === 0 ? '' : ['So far:', ...lines].join('\n');
    },
  };
}

function entriesOf(state: SessionState, taskId: string, part: Kind['part']): PacketEntry[] {
  const ledger = ledgersOf(state).get(taskId);
  const ofField = (field: PacketField, texts: readonly string[]) => texts.map((text) => ({ field, text }));
  const plan = ofField('plan', planText(state, taskId));
  if (ledger === undefined) return plan;
  const { assessment, summary, firstSummary } = ledger;
  const { files, failed, passed, followUps } = ledger.work;
  const fixes = locatedFixes(distinctTexts(ledger.requiredFixes), ledger.issues);
  const demands = fixes.map(({ text }) => clipText(quoted(text), MAX_LOCATED));
  const issues = ledger.issues.filter((issue) => !fixes.some(({ issue: same }) => same === issue));
  const shownFiles = files.slice(0, MAX_FILES).map(plain);
  const more = files.length - shownFiles.length;
  const isFirstAnother = firstSummary !== undefined && firstSummary !== summary;
  const passing = isSentBack(ledger) ? 'refuted_tests' : 'passing_tests';
  return [
    ...ofField('required_fixes', demands),
    ...ofField('blockers', distinctTexts(plainBlockers(ledger)).map(line)),
    ...ofField('issues', issues.map(issueText)),
    ...ofField('assessment', assessment === undefined ? [] : [assessment.replace('_', ' ')]),
    ...plan,
    ...ofField('summary', summary === undefined ? [] : [plain(summary)]),
    ...ofField('earlier_summary', isFirstAnother ? [plain(firstSummary)] : []),
    ...ofField('changed_files', more > 0 ? [...shownFiles, `${more} more`] : shownFiles),
    ...ofField('failing_tests', failed.map(failingTest)),
    // The next try needs to know what failed, others all of the work.
    ...(part === 'work'
      ? []
      : [...ofField(passing, passed.map(plain)), ...ofField('follow_ups', followUps.map(plain))]),
  ];
}

function issueText({ severity, file, message, fix }: DigestIssue): string {
  const text = [severity, file, message].filter((part) => part !== undefined).join(': ');
  return line(fix === undefined ? text : `${text} (fix: ${fix})`);
}

function failingTest({ command, failures, count }: TaskLedger['work']['failed'][number]): string {
  const more = count - failures.length;
  const listed = more > 0 ? [...failures, `${more} more`] : failures;
  return line(listed.length === 0 ? command : `${command}: ${listed.join('; ')}`);
}

function planText(state: SessionState, taskId: string): string[] {
  const ledgers = ledgersOf(state);
  const { planned } = outlookOf(state.run?.document.tasks ?? [], ledgers);
  const place = planned.find(({ task }) => task.id === taskId);
  if (place === undefined) return [];
  const { task, isBlocked, isOptional, waitsFor } = place;
  const parts = [
    ...(task.status === 'pending' ? [] : [task.status]),
    ...(isBlocked ? ['blocked'] : []),
    ...(isOptional ? ['optional'] : []),
    ...(waitsFor.length > 0 ? [`waits for ${waitsFor.join(', ')}`] : []),
    ...driftOf([task], ledgers).map(({ message }) => message),
  ];
  return parts.length === 0 ? [] : [plain(parts.join('; '))];
}

function plain(text: string): string {
  return clipText(quoted(text), MAX_TEXT);
}

/** Minimum share of a fix's words in the issue that it is about. */
const ENOUGH = 0.6;

/** A required fix with its issue, if the same review has one. */
interface LocatedFix {
  /** Includes additions from the issue: `name the field (src/a.ts; fix: throw with the name)`. */
  readonly text: string;
  readonly issue?: DigestIssue;
}

/** Adds the file and fix of its issue to each required fix, and the severity of an issue with the same text. */
export function locatedFixes(fixes: readonly string[], issues: readonly DigestIssue[]): LocatedFix[] {
  return fixes.map((text) => {
    const spelling = oneSpelling(text);
    const same = issues.find(({ message }) => oneSpelling(message) === spelling);
    if (same !== undefined) {
      const { severity, file, fix } = same;
      const suggested = fix === undefined || oneSpelling(fix) === spelling ? [] : [`fix: ${fix}`];
      const located = file === undefined ? [severity] : [severity, file];
      return { text: beside(text, [...located, ...suggested]), issue: same };
    }
    const { file, fix } = issueOf(text, issues) ?? {};
    const where = file === undefined || text.includes(file) ? [] : [file];
    const suggested = fix === undefined || text.includes(fix) ? [] : [`fix: ${fix}`];
    return { text: beside(text, [...where, ...suggested]) };
  });
}

function beside(text: string, more: readonly string[]): string {
  return more.length === 0 ? text : `${text} (${more.join('; ')})`;
}

/** Returns the issue that shares most words, if enough; the first of equal ones. */
function issueOf(text: string, issues: readonly DigestIssue[]): DigestIssue | undefined {
  const fixTokens = tokens(`/${text}`);
  let best: DigestIssue | undefined;
  let most = Math.max(2, Math.ceil(ENOUGH * fixTokens.length)) - 1;
  for (const issue of issues) {
    const issueTokens = new Set(tokens(`/${issue.file ?? ''} ${issue.message} ${issue.fix ?? ''}`));
    const shared = fixTokens.filter((word) => issueTokens.has(word)).length;
    // "Case 7" and "case 8" differ, however many words they share.
    if (shared <= most || fixTokens.some((word) => /\d/.test(word) && !issueTokens.has(word))) continue;
    best = issue;
    most = shared;
  }
  return best;
}

const DEMANDS: readonly PacketField[] = ['required_fixes', 'blockers', 'issues'];
/** Earlier results of the task fill these fields. */
const WORK_FIELDS = FIELDS.slice(FIELDS.indexOf('summary'));

/** Returns the first step for an agent of this role, by the knowledge of its task; names only fields that are shown. */
function guideLine(state: SessionState, taskId: string, role: Role, fields: ReadonlySet<PacketField>) {
  const { guide } = kindOf(role).prompt;
  // Only work results settle blockers.
  const demands = kindOf(role).part === 'work' ? DEMANDS : DEMANDS.filter((field) => field !== 'blockers');
  const openFields = demands.filter((field) => fields.has(field));
  const workFields = WORK_FIELDS.filter((field) => fields.has(field));
  const step = stepOf(role, ledgersOf(state).get(taskId));
  // If all demands were cut from the packet, there is nothing to settle.
  const first = guide[step === 'settle' && openFields.length === 0 ? 'continue' : step];
  const whole =
    workFields.length === 0 || guide.workFields === undefined ? first : `${first} ${guide.workFields}`;
  const text = whole.replace('{asked}', listed(openFields)).replace('{told}', listed(workFields));
  return `Guide: ${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function stepOf(role: Role, ledger: TaskLedger | undefined): 'begin' | 'continue' | 'approved' | 'settle' {
  if (ledger === undefined) return 'begin';
  const { requiredFixes, issues, blockers, tries, assessment } = ledger;
  const demands = [...requiredFixes, ...issues, ...(kindOf(role).part === 'work' ? blockers : [])];
  if (demands.length > 0) return 'settle';
  if (tries.length > 0) return 'continue';
  return assessment === 'approved' ? 'approved' : 'begin';
}

function listed(fields: readonly PacketField[]): string {
  const names = fields.map((field) => `the ${TITLES[field].toLowerCase()}`);
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

const REPEATS: Readonly<Record<StallSignal, string>> = {
  non_progress: 'blocked or failed, one after another',
  ping_pong: 'completed, then sent back by a review with the same findings, or no fewer',
  same_fixes: 'the same fix required again',
  same_test: 'the same test failing in the same way',
  same_files: 'the same file changed in try after try',
};

/** Returns instructions for a stalled task, with signals, evidence and earlier tries; empty while it makes progress. */
function replanLines(state: SessionState, taskId: string, role: Role): string[] {
  const ledger = ledgersOf(state).get(taskId);
  if (ledger === undefined) return [];
  const signals = signalsOf(ledger);
  if (signals.length === 0) return [];
  const { tries } = ledger;
  return [
    `Replan: this task goes in circles. ${KINDS[role].prompt.replan}`,
    ...signals.map(({ signal, count, evidence }) => {
      const shown = evidence.map(plain).join('; ');
      return `- ${signal} (${count} times), ${REPEATS[signal]}${shown === '' ? '' : `: ${shown}`}`;
    }),
    ...(tries.length === 0 ? [] : ['Tried already, the newest last:', ...tries.map(tried)]),
  ];
}

function tried({ verdict, summary, refused = [] }: Try): string {
  const what = summary === undefined ? `- ${verdict}` : `- ${verdict}: ${plain(summary)}`;
  const end = /[.!?]$/.test(what) ? '' : '.';
  return refused.length === 0
    ? what
    : `${what}${end} Refused by the review: ${refused.map(plain).join('; ')}`;
}

/** Tells the agent to return its unreadable last result again; empty if it was readable, or of another role. */
function unreadableLine(state: SessionState, taskId: string, role: Role): string {
  const rejection = unreadOf(rejectionsOf(state), taskId, role);
  if (rejection === undefined || rejection.error.meant !== undefined) return '';
  const { code, reason } = rejection.error;
  // Here nothing was wrong with the result.
  const [what, why] =
    code === 'deliveries_exhausted'
      ? ['could not be stored', '']
      : ['could not be read', ` (${JSON.stringify(plain(reason))})`];
  return `Unreadable: Your last result of this task ${what}${why}. Do not redo work that is done: return its result again as the contract above says.`;
}
