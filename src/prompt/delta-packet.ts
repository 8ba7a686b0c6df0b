import { type Kind, kindOf, type Role } from '../contracts/kinds.js';
import { driftOf } from '../ledger/next-task.js';
import type { DigestIssue } from '../ledger/outcome-digest.js';
import { progressLedger } from '../ledger/progress-ledger.js';
import type { TaskLedger } from '../ledger/task-ledger.js';
import { tokens } from '../memory/search/tokens.js';
import type { Run } from '../memory/session/session-run.js';
import { ledgersOf, type SessionState } from '../memory/session/session-state.js';
import { clipText, distinctTexts, oneSpelling, quoted } from '../shared/text.js';

/**
 * The delta packet: what the ledgers know of a task, as compact JSON with only the fields that have content. JSON
 * keeps it one line, and what agents wrote stays inside its strings.
 */
export interface DeltaPacket {
  /** Each with the file and the suggested fix of its issue, and its severity where the issue is not listed again. */
  readonly required_fixes?: readonly string[];
  readonly blockers?: readonly string[];
  readonly assessment?: string;
  readonly issues?: readonly string[];
  readonly plan_version?: number;
  readonly current_task?: {
    readonly description: string;
    readonly status: string;
    readonly blocked?: true;
    readonly optional?: true;
    /** Tasks that must be done before it and are not. */
    readonly waits_for?: readonly string[];
    /** Where its line contradicts its results. */
    readonly drift?: string;
    readonly requirements?: readonly string[];
    /** As the plan writes it. */
    readonly prompt?: string;
  };
  readonly active_task?: string;
  readonly totals?: object;
  /** Of the last work result, as the tests below. */
  readonly summary?: string;
  /** Of the first try, where a later one has replaced it. */
  readonly earlier_summary?: string;
  /** Of all tries, as the follow-ups; the newest first. */
  readonly changed_files?: readonly string[];
  readonly failing_tests?: readonly string[];
  readonly passing_tests?: readonly string[];
  readonly follow_ups?: readonly string[];
}

export type PacketField = keyof DeltaPacket;

/** Fields of a packet by what they are worth to an agent, where space is short; the first of each list most. */
interface Worth {
  /** Before anything but the essentials. */
  readonly first: readonly PacketField[];
  /** Before what is known of other tasks. */
  readonly next: readonly PacketField[];
  readonly last: readonly PacketField[];
}

const WORK_WORTH: Worth = {
  first: ['failing_tests', 'changed_files'],
  next: ['assessment', 'issues', 'summary', 'earlier_summary', 'current_task'],
  last: ['plan_version', 'active_task', 'totals'],
};

/** An agent that looks at work must know above all what it is. */
const LOOKING_WORTH: Worth = {
  first: ['changed_files', 'failing_tests', 'summary', 'issues'],
  next: ['earlier_summary', 'follow_ups', 'passing_tests', 'assessment', 'current_task'],
  last: ['plan_version', 'active_task', 'totals'],
};

/** What the fields of a packet are worth to a role. */
export function worthOf(role: Role): Worth {
  return kindOf(role).part === 'work' ? WORK_WORTH : LOOKING_WORTH;
}

const MAX_TEXT = 300;
/** A demand keeps every character that its event kept, and has room for file and suggested fix. */
const MAX_DEMAND = 500;
const MAX_LOCATED = MAX_DEMAND + 2 * MAX_TEXT;
const MAX_FILES = 20;

/** The packet of a task for an agent of this role; empty when nothing is known of it. */
export function deltaPacket(state: SessionState, taskId: string, role: Role): DeltaPacket {
  const ledger = ledgersOf(state).get(taskId);
  return { ...taskFields(ledger, kindOf(role).part), ...progressFields(state, taskId) };
}

/** The packet with required fixes alone, without files and suggestions. */
export function barePacket(state: SessionState, taskId: string): DeltaPacket {
  const ledger = ledgersOf(state).get(taskId);
  return ledger === undefined ? {} : demands(distinctTexts(ledger.requiredFixes), ledger.blockers);
}

function taskFields(ledger: TaskLedger | undefined, part: Kind['part']): DeltaPacket {
  if (ledger === undefined) return {};
  const { blockers, questions = [], assessment, planVersion, summary, firstSummary, work } = ledger;
  const fixes = locatedFixes(distinctTexts(ledger.requiredFixes), ledger.issues);
  const issues = ledger.issues.filter((issue) => !fixes.some(({ said }) => said === issue));
  return {
    ...demands(
      fixes.map(({ text }) => text),
      // Questions have lines of their own.
      blockers.filter((blocker) => !questions.some(({ text }) => text === blocker)),
    ),
    ...(assessment !== undefined && { assessment }),
    ...(issues.length > 0 && {
      issues: issues.map(({ severity, file, message, fix }) =>
        demand(
          [severity, file, message].filter((said) => said !== undefined).join(': ') +
            (fix === undefined ? '' : ` (fix: ${fix})`),
        ),
      ),
    }),
    ...(planVersion > 1 && { plan_version: planVersion }),
    ...(summary !== undefined && { summary: plain(summary) }),
    ...(firstSummary !== undefined && firstSummary !== summary && { earlier_summary: plain(firstSummary) }),
    ...workFields(work, part),
  };
}

function demands(fixes: readonly string[], blockers: readonly string[]): DeltaPacket {
  return {
    ...(fixes.length > 0 && { required_fixes: fixes.map((fix) => clipText(quoted(fix), MAX_LOCATED)) }),
    ...(blockers.length > 0 && { blockers: distinctTexts(blockers).map(demand) }),
  };
}

/** What was done: for the next try where it went wrong, for others all of it. */
function workFields(
  { files, failed, passed, followUps }: TaskLedger['work'],
  part: Kind['part'],
): DeltaPacket {
  const shown = files.slice(0, MAX_FILES).map(plain);
  const more = files.length - shown.length;
  return {
    ...(files.length > 0 && { changed_files: more > 0 ? [...shown, `${more} more`] : shown }),
    ...(failed.length > 0 && { failing_tests: failed.map(failingTest) }),
    ...(part !== 'work' && passed.length > 0 && { passing_tests: passed.map(plain) }),
    ...(part !== 'work' && followUps.length > 0 && { follow_ups: followUps.map(plain) }),
  };
}

function failingTest({ command, failures, count }: TaskLedger['work']['failed'][number]): string {
  const more = count - failures.length;
  const said = more > 0 ? [...failures, `${more} more`] : failures;
  return demand(said.length === 0 ? command : `${command}: ${said.join('; ')}`);
}

function progressFields(state: SessionState, taskId: string): DeltaPacket {
  const { run } = state;
  if (run === undefined) return {};
  const ledgers = ledgersOf(state);
  const { currentTask, activeTaskId, totals } = progressLedger(run, taskId, ledgers);
  const [drift] = driftOf(
    run.document.tasks.filter(({ id }) => id === taskId),
    ledgers,
  );
  return {
    ...(currentTask && {
      current_task: {
        description: plain(currentTask.description),
        status: currentTask.status,
        ...(currentTask.blocked && { blocked: true }),
        ...(currentTask.optional && { optional: true }),
        ...(currentTask.waitsFor && { waits_for: currentTask.waitsFor.map(plain) }),
        ...(drift && { drift: plain(drift.message) }),
        ...(currentTask.requirements && { requirements: currentTask.requirements.map(plain) }),
        ...(currentTask.prompt !== undefined && { prompt: promptOf(run, currentTask.prompt) }),
      },
    }),
    ...(activeTaskId !== null && activeTaskId !== taskId && { active_task: plain(activeTaskId) }),
    totals,
  };
}

/** A prompt of which a part had no room in the session says where the whole is. */
function promptOf({ document, source }: Run, prompt: string): string {
  const isCut = document.shortened?.prompts !== undefined && prompt.endsWith('...');
  const where = source.kind === 'file' ? source.path : 'the plan';
  return quoted(isCut ? `${prompt} (shortened: the whole is in ${where})` : prompt);
}

function demand(text: string): string {
  return clipText(quoted(text), MAX_DEMAND);
}

function plain(text: string): string {
  return clipText(quoted(text), MAX_TEXT);
}

/** Share of the words of a required fix that an issue must say as well to be what the fix is about. */
const ENOUGH = 0.6;

/** A required fix beside the issue that it is about, where the same review has one. */
interface LocatedFix {
  /** With what the issue adds to it: `name the field (src/a.ts; fix: throw with the name)`. */
  readonly text: string;
  /** The issue of which nothing is left to say: the text is its message, and names its severity, file and suggested fix. */
  readonly said?: DigestIssue;
}

/** Each required fix with the file and the suggested fix of its issue; of an issue in the same words its severity too. */
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

/** The issue that says most of a text's words, if it says enough of them; of equal ones the first. */
function issueOf(text: string, issues: readonly DigestIssue[]): DigestIssue | undefined {
  const asked = tokens(`/${text}`);
  let best: DigestIssue | undefined;
  let most = Math.max(2, Math.ceil(ENOUGH * asked.length)) - 1;
  for (const issue of issues) {
    const said = new Set(tokens(`/${issue.file ?? ''} ${issue.message} ${issue.fix ?? ''}`));
    const shared = asked.filter((word) => said.has(word)).length;
    // "Case 7" and "case 8" are two matters, however many words they share.
    if (shared <= most || asked.some((word) => /\d/.test(word) && !said.has(word))) continue;
    best = issue;
    most = shared;
  }
  return best;
}
