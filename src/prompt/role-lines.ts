import { KINDS, kindOf, type Role } from '../contracts/kinds.js';
import type { StallSignal } from '../contracts/session-meta-events.js';
import { signalsOf, type TaskLedger, type Try } from '../ledger/task-ledger.js';
import { resolvedSettings } from '../memory/session/charter.js';
import { unreadOf } from '../memory/session/known-rejections.js';
import { ledgersOf, rejectionsOf, type SessionState, tracesOf } from '../memory/session/session-state.js';
import { compactedReport, recentLines, summarise } from '../memory/traces/trace-summary.js';
import { clipText, quoted, shellWord, type Tokenizer } from '../shared/text.js';
import { fieldName, type PacketField } from './delta-packet.js';
import { beginnings, type Item, type Listed, type ShownItem, titled } from './fill-prompt.js';
import { RECENT_STEPS } from './role-contract.js';

/** Instructions for an agent of a role: the first step, and what to do if results went wrong. */

const MAX_TEXT = 300;

type Step = 'begin' | 'continue' | 'approved' | 'settle';

const ASKED: readonly PacketField[] = ['required_fixes', 'blockers', 'issues'];
const TOLD: readonly PacketField[] = [
  'summary',
  'earlier_summary',
  'changed_files',
  'failing_tests',
  'passing_tests',
  'refuted_tests',
  'follow_ups',
];

/** Returns the first step for an agent of this role, by the knowledge of its task; names only fields that are shown. */
export function guideLine(state: SessionState, taskId: string, role: Role, fields: ReadonlySet<PacketField>) {
  const { guide } = kindOf(role).prompt;
  // Only work results settle blockers.
  const demands = kindOf(role).part === 'work' ? ASKED : ASKED.filter((field) => field !== 'blockers');
  const openFields = demands.filter((field) => fields.has(field));
  const workFields = TOLD.filter((field) => fields.has(field));
  const step = stepOf(role, ledgersOf(state).get(taskId));
  // If all demands were cut from the packet, there is nothing to settle.
  const first = guide[step === 'settle' && openFields.length === 0 ? 'continue' : step];
  const whole =
    workFields.length === 0 || guide.workFields === undefined ? first : `${first} ${guide.workFields}`;
  const text = whole.replace('{asked}', listed(openFields)).replace('{told}', listed(workFields));
  return `Guide: ${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function stepOf(role: Role, ledger: TaskLedger | undefined): Step {
  if (ledger === undefined) return 'begin';
  const { requiredFixes, issues, blockers, tries, assessment } = ledger;
  const demands = [...requiredFixes, ...issues, ...(kindOf(role).part === 'work' ? blockers : [])];
  if (demands.length > 0) return 'settle';
  if (tries.length > 0) return 'continue';
  return assessment === 'approved' ? 'approved' : 'begin';
}

/** `a`, `a and b`, `a, b and c` */
function listed(fields: readonly PacketField[]): string {
  const names = fields.map(fieldName);
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

/** The repetition in words. */
const REPEATS: Readonly<Record<StallSignal, string>> = {
  non_progress: 'blocked or failed, one after another',
  ping_pong: 'completed, then sent back by a review with the same findings, or no fewer',
  same_fixes: 'the same fix required again',
  same_test: 'the same test failing in the same way',
  same_files: 'the same file changed in try after try',
};

/** Returns instructions for a stalled task, with signals, evidence and earlier tries; empty while it makes progress. */
export function replanLines(state: SessionState, taskId: string, role: Role): string[] {
  const ledger = ledgersOf(state).get(taskId);
  if (ledger === undefined) return [];
  const signals = signalsOf(ledger, resolvedSettings(state.charter.settings).stallThresholds);
  if (signals.length === 0) return [];
  const { tries } = ledger;
  return [
    `Replan: this task goes in circles. ${KINDS[role].prompt.replan}`,
    ...signals.map(({ signal, count, evidence }) => {
      const shown = evidence.map(line).join('; ');
      return `- ${signal} (${count} times), ${REPEATS[signal]}${shown === '' ? '' : `: ${shown}`}`;
    }),
    ...(tries.length === 0 ? [] : ['Tried already, the newest last:', ...tries.map(tried)]),
  ];
}

function tried({ verdict, summary, refused = [] }: Try): string {
  const what = summary === undefined ? `- ${verdict}` : `- ${verdict}: ${line(summary)}`;
  const end = /[.!?]$/.test(what) ? '' : '.';
  return refused.length === 0 ? what : `${what}${end} Refused by the review: ${refused.map(line).join('; ')}`;
}

function line(text: string): string {
  return clipText(quoted(text), MAX_TEXT);
}

/**
 * Tells the agent why its last result of the task was unreadable, and to return it again; empty if it was readable. A
 * result published with another role is not this role's concern.
 */
export function unreadableLine(state: SessionState, taskId: string, role: Role): string {
  const rejection = unreadOf(rejectionsOf(state), taskId, role);
  if (rejection === undefined || rejection.error.meant !== undefined) return '';
  const { code, reason } = rejection.error;
  // Here nothing was wrong with the result.
  const [what, why] =
    code === 'deliveries_exhausted'
      ? ['could not be stored', '']
      : ['could not be read', ` (${JSON.stringify(line(reason))})`];
  return `Unreadable: Your last result of this task ${what}${why}. Do not redo work that is done: return its result again as the contract above says.`;
}

/** The trace of an intent in a prompt: its compacted history by lines, and the steps since. */
export type TraceItems = ReturnType<typeof traceItems>;

export function traceItems(
  state: SessionState,
  intent: string | undefined,
  { tokenizer, maxSummaryTokens }: { readonly tokenizer: Tokenizer; readonly maxSummaryTokens: number },
  binary: string,
) {
  const trace = intent === undefined ? undefined : tracesOf(state).intents.get(intent);
  const summary = trace === undefined ? null : summarise(trace, tokenizer, maxSummaryTokens);
  const { parts = [], demands = 0 } = summary ?? {};
  const history = parts.map(
    (text, index): Item => ({
      whole: text,
      // The tallies are one unit.
      get forms() {
        return index === 0 ? [text] : beginnings(text);
      },
    }),
  );
  const recent = (trace === undefined ? [] : recentLines(trace)).map((line) => ({ forms: beginnings(line) }));
  const command = `${binary} log ${state.session} --trace ${shellWord(quoted(intent ?? ''))}`;
  return {
    /** By importance. */
    history,
    /** Indexes of constraints and requests in the history. */
    demands: new Set(Array.from({ length: demands }, (_, index) => index)),
    recent,
    /** Renders the shown history; empty if nothing is. */
    written: (shown: readonly ShownItem[]) =>
      shown.length === 0
        ? ''
        : (summary?.write(new Map(shown.map(({ index, text }) => [index, text]))) ?? ''),
    recentPart: (shown: readonly ShownItem[]) => ({ section: 'recent', text: titled(RECENT_STEPS, shown) }),
    leftOut: (some: readonly ShownItem[], steps: readonly ShownItem[]): Listed[] => [
      { name: 'the lines of the compacted history', items: history, shown: some, command },
      { name: 'the recent steps', items: recent, shown: steps, command },
    ],
    /** Returns null if none of the history is shown. */
    report: (shown: readonly ShownItem[] = []) =>
      summary === null || shown.length === 0 ? null : compactedReport(summary),
  };
}
