import { counted } from './text.js';

const STALLS: Readonly<Record<string, string>> = {
  non_progress: 'blocked or failed',
  ping_pong: 'sent back by a review',
  same_fixes: 'the same fix required',
  same_test: 'the same test failing',
  same_files: 'the same files changed',
};

/**
 * `ping_pong 5: Bound the wait | same_files 4: a.ts` becomes `sent back by a review 5 times: … · the same files changed
 * …`.
 */
export function stallText(hint: string): string {
  return hint.replaceAll(
    /(^| \| )(non_progress|ping_pong|same_fixes|same_test|same_files) (\d+)(?=:|$| \| )/g,
    (_, before: string, signal: string, times: string) =>
      `${before === '' ? '' : ' · '}${STALLS[signal]} ${counted(Number(times), 'time')}`,
  );
}

interface Needs {
  readonly stalled: readonly { readonly task: string; readonly reason: string }[];
  readonly waiting: readonly string[];
}

/** Returns a sentence for each thing that needs a person. */
export function needsText({ stalled, waiting }: Needs): string[] {
  return [...stalled.map(({ task, reason }) => `task ${task} is stalled: ${stallText(reason)}`), ...waiting];
}

/** Returns 0 for a session that waits for a person, 1 for one with a stalled task, else 2. */
export function needRank({ stalled, waiting }: Needs): 0 | 1 | 2 {
  return waiting.length > 0 ? 0 : stalled.length > 0 ? 1 : 2;
}

/** Returns true if a person must act on a task: it asks something, its review was halted, or it is blocked off the board. */
export function waitsForPerson(task: {
  readonly next_action: string;
  readonly stalled: boolean;
  readonly questions?: readonly unknown[];
  readonly board?: string;
}): boolean {
  const { next_action: next, stalled, questions = [], board } = task;
  const isBlocked = next === 'retry_with_constraints' && !stalled && board === undefined;
  return questions.length > 0 || next === 'halt_and_escalate' || isBlocked;
}
