import { type Kind, kindOf, type Role } from '../contracts/kinds.js';
import { driftOf, outlookOf } from '../ledger/next-task.js';
import type { DigestIssue } from '../ledger/outcome-digest.js';
import { isSentBack, plainBlockers, type TaskLedger } from '../ledger/task-ledger.js';
import { tokens } from '../memory/search/tokens.js';
import { ledgersOf, type SessionState } from '../memory/session/session-state.js';
import { clipText, distinctTexts, oneSpelling, quoted } from '../shared/text.js';
import { beginnings, type ShownItem, type Stretch } from './fill-prompt.js';

/**
 * The delta packet: the ledgers' knowledge of a task as short texts, by field in the order of the prompt. The required fixes and
 * blockers are essential.
 */
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

export type PacketField = keyof typeof TITLES;
const FIELDS = Object.keys(TITLES) as PacketField[];

/** Fields of one text, and lists that take one line. The others are lists. */
const SINGLE: ReadonlySet<PacketField> = new Set(['assessment', 'plan', 'summary', 'earlier_summary']);
const ON_ONE_LINE: ReadonlySet<PacketField> = new Set(['changed_files', 'passing_tests', 'refuted_tests']);

interface PacketEntry {
  readonly field: PacketField;
  readonly text: string;
}

/** Names a field in a sentence. */
export function fieldName(field: PacketField): string {
  return `the ${TITLES[field].toLowerCase()}`;
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
const MAX_DEMAND = 500;
const MAX_LOCATED = MAX_DEMAND + 2 * MAX_TEXT;
const MAX_FILES = 20;

/** A packet as items of a prompt. */
export function deltaPacket(state: SessionState, taskId: string, role: Role) {
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
    ...{ first, next },
    /** The fields of what is shown. */
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
    ...ofField('blockers', distinctTexts(plainBlockers(ledger)).map(demand)),
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
  return demand(fix === undefined ? text : `${text} (fix: ${fix})`);
}

function failingTest({ command, failures, count }: TaskLedger['work']['failed'][number]): string {
  const more = count - failures.length;
  const listed = more > 0 ? [...failures, `${more} more`] : failures;
  return demand(listed.length === 0 ? command : `${command}: ${listed.join('; ')}`);
}

/** Returns the state of the task in the plan, if it is not simply pending. */
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

function demand(text: string): string {
  return clipText(quoted(text), MAX_DEMAND);
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
  /** The issue that the text covers completely. */
  readonly issue?: DigestIssue;
}

/**
 * Adds the file and suggested fix of its issue to each required fix, and the severity of an issue with the same text.
 */
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
