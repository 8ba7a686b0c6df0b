import type { Role } from '../contracts/kinds.js';
import type { LedgerListed } from '../contracts/replies/run-reply.js';
import type { Tone } from './components/fields.js';

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

/** The roles, those of most prompts first. The table of kinds brings its schemas with it, which a page does not need. */
export const ROLE_NAMES = ['implementer', 'reviewer', 'observer'] as const satisfies readonly Role[];

/** Whether there are prompts of a role: one that only records is asked for nothing. */
export function hasPrompts(role: Role): boolean {
  return role !== 'observer';
}

/** Who acts next on a task. */
export function nextRole(action: LedgerListed['next_action']): Role {
  return action === 'dispatch_reviewer' ? 'reviewer' : 'implementer';
}

/**
 * Rows that the keyboard moves between: whatever has `data-row` and can take the focus, in the order of the page.
 * Without a row in focus, the first one takes it.
 */
export function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  const own = document.activeElement?.closest<HTMLElement>('[data-row]');
  const index = own === null || own === undefined ? -1 : rows.indexOf(own);
  const next = index === -1 ? rows[0] : rows[Math.min(rows.length - 1, Math.max(0, index + step))];
  next?.focus();
}
