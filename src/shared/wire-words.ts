/** The words of the wire as people read them. */

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet';

const TONES: Readonly<Record<string, Tone>> = {
  completed: 'good',
  approved: 'good',
  in_progress: 'info',
  'in-progress': 'info',
  blocked: 'warn',
  needs_changes: 'warn',
  failed: 'bad',
  rejected: 'bad',
};

/** Returns the colour of a status or verdict. */
export function toneOf(word: string): Tone {
  return TONES[word] ?? 'quiet';
}

/** Returns `needs_changes` as `needs changes`, and `inProgress` as `in progress`. */
export function spaced(word: string): string {
  return word.replaceAll(/[_-]|(?=[A-Z])/g, ' ').toLowerCase();
}

/** Returns the state of a board or plan task in words; the wire says `remaining` for pending. */
export function statusText(status: string): string {
  return status === 'remaining' ? 'pending' : spaced(status);
}

const NEXT: Readonly<Record<string, string>> = {
  dispatch_reviewer: 'a review',
  retry_with_constraints: 'a retry within the constraints that block it',
  retry: 'a retry',
  next_task: 'the next task',
  spec_completed: 'nothing: the plan is done',
  dispatch_fixes: 'the fixes',
  halt_and_escalate: 'a person’s decision',
  wait_for_answer: 'your answer',
};

/** Returns `reviewer needs changes, next: the fixes`. */
export function cameText(lastOutcome: string, nextAction = ''): string {
  return `${spaced(lastOutcome)}, next: ${nextText(nextAction)}`;
}

/** Returns the action after a result, to follow `next: `. */
export function nextText(action: string): string {
  return NEXT[action] ?? spaced(action);
}
