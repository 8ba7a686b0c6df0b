import { KINDS, type Role } from '../contracts/kinds.js';
import { tasksLeft } from '../ledger/ledger-entries.js';
import { progressLedger } from '../ledger/progress-ledger.js';
import { nextAction, outcomeName, signalsOf, type TaskLedger } from '../ledger/task-ledger.js';
import { resolvedSettings } from '../session/resolved-settings.js';
import type { SessionState } from '../session/session-state.js';
import { clipText, quoted } from '../shared/text.js';

/**
 * The delta packet: what the ledgers know of a task, as compact JSON with only the fields that have content. JSON
 * keeps it one line, and what agents wrote stays inside its strings.
 */
export interface DeltaPacket {
  readonly required_fixes?: readonly string[];
  readonly blockers?: readonly string[];
  readonly assessment?: string;
  readonly issues?: readonly string[];
  readonly next_action?: string;
  readonly last_outcome?: string;
  readonly plan_version?: number;
  readonly current_task?: {
    readonly description: string;
    readonly status: string;
    readonly requirements?: readonly string[];
  };
  readonly active_task?: string;
  readonly totals?: object;
  readonly summary?: string;
}

/** Fields of a packet from the least to the most valuable: the order in which they go when space is short. */
export const PRUNED_FIRST = [
  'summary',
  'totals',
  'active_task',
  'plan_version',
  'last_outcome',
  'current_task',
  'issues',
  'assessment',
  'next_action',
] as const satisfies readonly (keyof DeltaPacket)[];

const MAX_TEXT = 300;
/** A demand keeps every character that its event kept. */
const MAX_DEMAND = 500;

/** The packet of a task; empty when nothing is known of it. */
export function deltaPacket(state: SessionState, taskId: string): DeltaPacket {
  const ledger = state.dispatches.current().ledgers.get(taskId);
  return { ...taskFields(state, ledger), ...progressFields(state, taskId) };
}

/** What to do and why, while the task is stalled; empty while it makes progress. */
export function replanLines(state: SessionState, taskId: string, role: Role): string[] {
  const ledger = state.dispatches.current().ledgers.get(taskId);
  const signals =
    ledger === undefined ? [] : signalsOf(ledger, resolvedSettings(state.charter.settings).stallThresholds);
  const lines = signals.map(({ signal, count, evidence }) => {
    const shown = evidence.map((text) => clipText(quoted(text), MAX_TEXT)).join('; ');
    return `- ${signal} (${count} times)${shown === '' ? '' : `: ${shown}`}`;
  });
  return lines.length === 0 ? [] : [KINDS[role].prompt.replan, ...lines];
}

function taskFields({ run }: SessionState, ledger: TaskLedger | undefined): DeltaPacket {
  if (ledger === undefined) return {};
  const { requiredFixes, blockers, assessment, issues, last, planVersion, summary } = ledger;
  return {
    ...(requiredFixes.length > 0 && { required_fixes: requiredFixes.map(whole) }),
    ...(blockers.length > 0 && { blockers: blockers.map(whole) }),
    ...(assessment !== undefined && { assessment }),
    ...(issues.length > 0 && {
      issues: issues.map(({ severity, file, message }) =>
        plain(`${severity}: ${file === undefined ? '' : `${file}: `}${message}`),
      ),
    }),
    next_action: nextAction(last, tasksLeft(run?.document, ledger.task)),
    last_outcome: outcomeName(last),
    ...(planVersion > 1 && { plan_version: planVersion }),
    ...(summary !== undefined && { summary: plain(summary) }),
  };
}

function progressFields({ run }: SessionState, taskId: string): DeltaPacket {
  if (run === undefined) return {};
  const { currentTask, activeTaskId, totals } = progressLedger(run, taskId);
  return {
    ...(currentTask && {
      current_task: {
        description: plain(currentTask.description),
        status: currentTask.status,
        ...(currentTask.requirements && { requirements: currentTask.requirements.map(plain) }),
      },
    }),
    ...(activeTaskId !== null && activeTaskId !== taskId && { active_task: plain(activeTaskId) }),
    totals,
  };
}

function whole(text: string): string {
  return clipText(quoted(text), MAX_DEMAND);
}

function plain(text: string): string {
  return clipText(quoted(text), MAX_TEXT);
}
