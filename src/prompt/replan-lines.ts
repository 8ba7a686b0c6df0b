import { KINDS, type Role } from '../contracts/kinds.js';
import type { StallSignal } from '../contracts/session-settings.js';
import { signalsOf, type Try } from '../ledger/task-ledger.js';
import { resolvedSettings } from '../session/resolved-settings.js';
import type { SessionState } from '../session/session-state.js';
import { clipText, quoted } from '../shared/text.js';

/** What repeats, in words. */
const REPEATS: Readonly<Record<StallSignal, string>> = {
  non_progress: 'blocked or failed, one after another',
  ping_pong: 'completed, then sent back by a review',
  same_fixes: 'the same fix required again',
  same_test: 'the same test failing in the same way',
  same_files: 'the same file changed in try after try',
};

const MAX_TEXT = 300;

/**
 * What to do while the task is stalled, what repeats with its evidence, and what was tried already; empty while the task
 * makes progress.
 */
export function replanLines(state: SessionState, taskId: string, role: Role): string[] {
  const ledger = state.dispatches.current().ledgers.get(taskId);
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

function tried({ verdict, summary }: Try): string {
  return summary === undefined ? `- ${verdict}` : `- ${verdict}: ${line(summary)}`;
}

function line(text: string): string {
  return clipText(quoted(text), MAX_TEXT);
}
