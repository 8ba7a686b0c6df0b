import { type Kind, kindOf, type Role } from '../contracts/kinds.js';
import { driftOf, outlookOf } from '../ledger/next-task.js';
import type { DigestIssue } from '../ledger/outcome-digest.js';
import { isSentBack, plainBlockers, type TaskLedger } from '../ledger/task-ledger.js';
import { tokens } from '../memory/search/tokens.js';
import { ledgersOf, type SessionState } from '../memory/session/session-state.js';
import { clipText, distinctTexts, lengthOf, oneSpelling, quoted } from '../shared/text.js';
import { beginnings, type Item, type ShownItem, type Stretch } from './prompt-items.js';

/** The delta packet: the ledgers' knowledge of a task as short texts, with non-empty fields only. */
export interface DeltaPacket {
  /** With file and suggested fix of its issue, and its severity if the issue is not listed again. */
  readonly required_fixes?: readonly string[];
  readonly blockers?: readonly string[];
  readonly assessment?: string;
  readonly issues?: readonly string[];
  /** The state of the task in the plan, if it is not simply pending. */
  readonly plan?: string;
  /** From the last work result, like the tests. */
  readonly summary?: string;
  /** From the first try, if a later one replaced it. */
  readonly earlier_summary?: string;
  /** From all tries, like the follow-ups; the newest first. */
  readonly changed_files?: readonly string[];
  readonly failing_tests?: readonly string[];
  readonly passing_tests?: readonly string[];
  /** Instead of the passing tests, if the review sent the work back. */
  readonly refuted_tests?: readonly string[];
  readonly follow_ups?: readonly string[];
}

/** Fields in the order of the prompt, with their titles. */
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
  refuted_tests: 'Tests sent back',
  follow_ups: 'Follow-ups',
} as const satisfies Readonly<Record<keyof DeltaPacket, string>>;

/** Lists that take one line. */
const ON_ONE_LINE: ReadonlySet<string> = new Set<PacketField>([
  'changed_files',
  'passing_tests',
  'refuted_tests',
]);

/** Names a field in a sentence. */
export function fieldName(field: PacketField): string {
  return `the ${TITLES[field].toLowerCase()}`;
}

/** Renders a packet: a title, and the entries of a list below it. */
export function packetLines(packet: DeltaPacket): string {
  return (Object.keys(TITLES) as PacketField[])
    .flatMap((field) => {
      const value = packet[field];
      if (value === undefined) return [];
      const title = TITLES[field];
      if (typeof value === 'string') return [`${title}: ${value}`];
      if (ON_ONE_LINE.has(field)) return [`${title}: ${value.join(', ')}`];
      return [`${title}:`, ...value.map((each) => `- ${each}`)];
    })
    .join('\n');
}

type PacketField = keyof DeltaPacket;

/** Fields of a packet by importance to an agent, the first of each list most. */
interface Worth {
  /** Before anything but the essentials. */
  readonly first: readonly PacketField[];
  /** Before knowledge about other tasks. */
  readonly next: readonly PacketField[];
}

const WORK_WORTH: Worth = {
  first: ['failing_tests', 'changed_files'],
  next: ['assessment', 'issues', 'summary', 'earlier_summary', 'plan'],
};

/** Reviewers and observers need to know the work first. */
const LOOKING_WORTH: Worth = {
  first: ['changed_files', 'failing_tests', 'summary', 'issues'],
  next: ['earlier_summary', 'follow_ups', 'passing_tests', 'refuted_tests', 'assessment', 'plan'],
};

export function worthOf(role: Role): Worth {
  return kindOf(role).part === 'work' ? WORK_WORTH : LOOKING_WORTH;
}

const MAX_TEXT = 300;
/** A demand keeps all of its event's text, plus file and suggested fix. */
const MAX_DEMAND = 500;
const MAX_LOCATED = MAX_DEMAND + 2 * MAX_TEXT;
const MAX_FILES = 20;

export function deltaPacket(state: SessionState, taskId: string, role: Role): DeltaPacket {
  const ledger = ledgersOf(state).get(taskId);
  return { ...taskFields(ledger, kindOf(role).part), ...progressFields(state, taskId) };
}

/** Returns only required fixes and blockers, without files and suggestions. */
export function barePacket(state: SessionState, taskId: string): DeltaPacket {
  const ledger = ledgersOf(state).get(taskId);
  return ledger === undefined ? {} : demands(distinctTexts(ledger.requiredFixes), ledger.blockers);
}

function taskFields(ledger: TaskLedger | undefined, part: Kind['part']): DeltaPacket {
  if (ledger === undefined) return {};
  const { assessment, summary, firstSummary, work } = ledger;
  const fixes = locatedFixes(distinctTexts(ledger.requiredFixes), ledger.issues);
  const issues = ledger.issues.filter((issue) => !fixes.some(({ said }) => said === issue));
  return {
    ...demands(
      fixes.map(({ text }) => text),
      plainBlockers(ledger),
    ),
    ...(assessment !== undefined && { assessment: assessment.replace('_', ' ') }),
    ...(issues.length > 0 && {
      issues: issues.map(({ severity, file, message, fix }) =>
        demand(
          [severity, file, message].filter((said) => said !== undefined).join(': ') +
            (fix === undefined ? '' : ` (fix: ${fix})`),
        ),
      ),
    }),
    ...(summary !== undefined && { summary: plain(summary) }),
    ...(firstSummary !== undefined && firstSummary !== summary && { earlier_summary: plain(firstSummary) }),
    ...workFields(work, part, isSentBack(ledger)),
  };
}

function demands(fixes: readonly string[], blockers: readonly string[]): DeltaPacket {
  return {
    ...(fixes.length > 0 && { required_fixes: fixes.map((fix) => clipText(quoted(fix), MAX_LOCATED)) }),
    ...(blockers.length > 0 && { blockers: distinctTexts(blockers).map(demand) }),
  };
}

/** Returns failed parts of the work for the next try, all of it for others. */
function workFields(
  { files, failed, passed, followUps }: TaskLedger['work'],
  part: Kind['part'],
  sentBack: boolean,
): DeltaPacket {
  const shown = files.slice(0, MAX_FILES).map(plain);
  const more = files.length - shown.length;
  return {
    ...(files.length > 0 && { changed_files: more > 0 ? [...shown, `${more} more`] : shown }),
    ...(failed.length > 0 && { failing_tests: failed.map(failingTest) }),
    ...(part !== 'work' &&
      passed.length > 0 && { [sentBack ? 'refuted_tests' : 'passing_tests']: passed.map(plain) }),
    ...(part !== 'work' && followUps.length > 0 && { follow_ups: followUps.map(plain) }),
  };
}

function failingTest({ command, failures, count }: TaskLedger['work']['failed'][number]): string {
  const more = count - failures.length;
  const said = more > 0 ? [...failures, `${more} more`] : failures;
  return demand(said.length === 0 ? command : `${command}: ${said.join('; ')}`);
}

function progressFields(state: SessionState, taskId: string): DeltaPacket {
  const tasks = state.run?.document.tasks ?? [];
  const ledgers = ledgersOf(state);
  const place = outlookOf(tasks, ledgers).planned.find(({ task }) => task.id === taskId);
  if (place === undefined) return {};
  const { task, isBlocked, isOptional, waitsFor } = place;
  const said = [
    ...(task.status === 'pending' ? [] : [task.status]),
    ...(isBlocked ? ['blocked'] : []),
    ...(isOptional ? ['optional'] : []),
    ...(waitsFor.length > 0 ? [`waits for ${waitsFor.join(', ')}`] : []),
    ...driftOf([task], ledgers).map(({ message }) => message),
  ];
  return said.length === 0 ? {} : { plan: plain(said.join('; ')) };
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
  readonly said?: DigestIssue;
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
      return {
        text: beside(text, [severity, ...(file === undefined ? [] : [file]), ...suggested]),
        said: same,
      };
    }
    const { file, fix } = issueOf(text, issues) ?? {};
    return {
      text: beside(text, [
        ...(file === undefined || text.includes(file) ? [] : [file]),
        ...(fix === undefined || text.includes(fix) ? [] : [`fix: ${fix}`]),
      ]),
    };
  });
}

function beside(text: string, more: readonly string[]): string {
  return more.length === 0 ? text : `${text} (${more.join('; ')})`;
}

/** Returns the issue that shares most words, if enough; the first of equal ones. */
function issueOf(text: string, issues: readonly DigestIssue[]): DigestIssue | undefined {
  const asked = tokens(`/${text}`);
  let best: DigestIssue | undefined;
  let most = Math.max(2, Math.ceil(ENOUGH * asked.length)) - 1;
  for (const issue of issues) {
    const said = new Set(tokens(`/${issue.file ?? ''} ${issue.message} ${issue.fix ?? ''}`));
    const shared = asked.filter((word) => said.has(word)).length;
    // "Case 7" and "case 8" differ, however many words they share.
    if (shared <= most || asked.some((word) => /\d/.test(word) && !said.has(word))) continue;
    best = issue;
    most = shared;
  }
  return best;
}

/**
 * The delta packet as items: one per list entry, and one per other field. Required fixes and blockers are essential;
 * file and suggested fix of a required fix are not.
 */
interface PacketItems {
  readonly required_fixes: readonly Item[];
  readonly blockers: readonly Item[];
  /** By the same index: the required fix with file and suggestion. */
  readonly places: readonly Item[];
  readonly ledger: readonly Item[];
  /** Fields of the ledger items, in the order of the packet. */
  readonly entries: readonly Entry[];
  readonly whole: DeltaPacket;
}

interface Entry {
  readonly field: PacketField;
  /** True for an entry of a list. */
  readonly listed: boolean;
}

/** Characters from one form to the next. */
const STEP = 60;

type PacketSection = 'required_fixes' | 'blockers' | 'places' | 'ledger';

/** @param bare the required fixes alone, without files and suggestions */
export function packetItems(packet: DeltaPacket, bare: DeltaPacket): PacketItems {
  const { required_fixes: places = [], blockers = [], ...others } = packet;
  const given = Object.entries(others).flatMap(([name, value]) => {
    const field = name as PacketField;
    const listed = typeof value !== 'string';
    return (listed ? (value as readonly string[]) : [value]).map((each) => ({ field, listed, each }));
  });
  const { required_fixes: fixes = [] } = bare;
  return {
    required_fixes: fixes.map(itemOf),
    blockers: blockers.map(itemOf),
    places: places.map((text, index) => ({
      forms: beginnings(text, lengthOf(fixes[index] ?? '') + STEP, STEP),
    })),
    ledger: given.map(({ each }) => itemOf(each)),
    entries: given.map(({ field, listed }) => ({ field, listed })),
    whole: packet,
  };
}

function itemOf(text: string): Item {
  return { forms: beginnings(text) };
}

/** Orders non-essential fields by importance to the role. */
export function packetStretches(
  { entries }: PacketItems,
  role: Role,
): Readonly<Record<'first' | 'next', Stretch<'ledger'>[]>> {
  const { first, next } = worthOf(role);
  const stretches = (fields: readonly PacketField[]) =>
    fields.map((field) => ({
      section: 'ledger' as const,
      only: new Set(entries.flatMap((entry, index) => (entry.field === field ? [index] : []))),
    }));
  return { first: stretches(first), next: stretches(next) };
}

/** Rebuilds the packet from the shown items; a shortened list ends with the number of entries left out. */
export function shownPacket(
  { entries, whole }: PacketItems,
  shown: Readonly<Record<PacketSection, readonly ShownItem[]>>,
): DeltaPacket {
  const packet: { [Field in PacketField]?: string | string[] } = {};
  const add = (field: PacketField, listed: boolean, { text }: ShownItem) => {
    packet[field] = listed ? [...(packet[field] ?? []), text] : text;
  };
  const located = new Map(shown.places.map((each) => [each.index, each]));
  for (const each of shown.required_fixes) add('required_fixes', true, located.get(each.index) ?? each);
  for (const each of shown.blockers) add('blockers', true, each);
  for (const each of shown.ledger) {
    const entry = entries[each.index];
    if (entry !== undefined) add(entry.field, entry.listed, each);
  }
  for (const [field, all] of Object.entries(whole)) {
    const some = packet[field as PacketField];
    if (Array.isArray(all) && Array.isArray(some) && some.length < all.length)
      some.push(`${all.length - some.length} more`);
  }
  return packet as DeltaPacket;
}
