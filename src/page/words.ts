import type { Tone } from './components/tag.js';

/** What stands in replies as one word, as people say it. */

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

/** How a status or verdict stands. */
export function toneOf(word: string): Tone {
  return TONES[word] ?? 'quiet';
}

/** `needs_changes` as `needs changes`. */
export function spaced(word: string): string {
  return word.replaceAll(/[_-]/g, ' ');
}

/** Role and verdict of an outcome such as `reviewer_needs_changes`. */
export function outcomeParts(outcome: string): { readonly role: string; readonly verdict: string } {
  const cut = outcome.indexOf('_');
  return { role: outcome.slice(0, cut), verdict: outcome.slice(cut + 1) };
}

const NEXT: Readonly<Record<string, string>> = {
  dispatch_reviewer: 'a review',
  retry_with_constraints: 'a retry within what blocks it',
  retry: 'a retry',
  next_task: 'the next task',
  spec_completed: 'nothing: the plan is done',
  dispatch_fixes: 'the fixes',
  halt_and_escalate: 'a person’s decision',
};

/** What should happen after a result, as part of `next: …`. */
export function nextText(action: string): string {
  return NEXT[action] ?? spaced(action);
}

const NUMBER = new Intl.NumberFormat('en');

/** `12,043`. */
export function figure(value: number): string {
  return NUMBER.format(value);
}

/** `1 result`, `3 results`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${figure(count)} ${count === 1 ? one : many}`;
}
