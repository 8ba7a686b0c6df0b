import type { LedgerShown, LedgersListed } from '../contracts/replies/ledger-reply.js';
import { ledgerEntries } from '../ledger/ledger-entries.js';
import { nearIdsHint } from '../shared/near-ids.js';
import { oneLine } from '../shared/text.js';
import { unreadableResult, unreadableTasks, unreadOf } from './known-rejections.js';
import { resolvedSettings } from './resolved-settings.js';
import { progressOf } from './run-status.js';
import { seenState } from './seen-state.js';
import type { SessionState } from './session-state.js';

/** What the ledgers of a session show: all tasks in a list, and the known entries of one. */

export function ledgerList(state: SessionState): Omit<LedgersListed, 'sequence'> {
  const seen = seenState(state);
  const { ledgers, rejections } = state.dispatches.current();
  const tasks = [...ledgers.values()].map((ledger) => ({
    ...progressOf(seen, ledger),
    rounds: ledger.approvalLoops,
    findings: ledger.issues.length + ledger.requiredFixes.length,
    blockers: ledger.blockers.length,
    last_dispatch: ledger.last.sequence,
  }));
  return { tasks, unreadable: unreadableTasks(rejections) };
}

/** The known entries of one task's ledger, together with those of the progress; a remark where the task is not known. */
export function ledgerOf(state: SessionState, task: string): Omit<LedgerShown, 'sequence'> {
  const { ledgers, rejections } = state.dispatches.current();
  const planned = state.run?.document.tasks.map(({ id }) => id) ?? [];
  const known = new Set([...planned, ...ledgers.keys(), ...rejections.flatMap((each) => each.task ?? [])]);
  if (!known.has(task)) {
    const remark = `nothing is known about task ${oneLine(task)}${oneLine(nearIdsHint(task, known))}`;
    return { task, entries: {}, remark };
  }
  const { stallThresholds } = resolvedSettings(state.charter.settings);
  const unread = unreadOf(rejections, task);
  const unreadable = unread && unreadableResult(unread);
  const entries = ledgerEntries(ledgers.get(task), state.run?.document, stallThresholds, unreadable, ledgers);
  return { task, entries: { ...entries } };
}
