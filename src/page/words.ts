import type { Role } from '../contracts/kinds.js';

export { claimedBy, leftBy, nextText, spaced, statusText, type Tone, toneOf } from '../shared/wire-words.js';

const NUMBER = new Intl.NumberFormat('en');

/** Returns `12,043`. */
export function figure(value: number): string {
  return NUMBER.format(value);
}

/** Returns `1 result` or `3 results`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${figure(count)} ${count === 1 ? one : many}`;
}

/** The roles. The table of kinds is not imported, because it would bring its schemas into the page. */
export const ROLE_NAMES = ['implementer', 'reviewer', 'observer'] as const satisfies readonly Role[];

/** Returns false for a role that only records. */
export function hasPrompts(role: Role): boolean {
  return role !== 'observer';
}

/**
 * Each command that the page shows, by its use; `test/e2e/page-commands.test.ts` runs all of them.
 *
 * @param of the session or the project in question
 */
export const COMMANDS = {
  up: () => 'throughline up',
  openPage: () => 'throughline open',
  openSession: () => 'throughline session open demo --goal "A first try"',
  addTask: (of: string) => `throughline task add --session ${of} "The first task"`,
  publish: (of: string) => `throughline publish implementer --session ${of} --file result.json`,
  prompt: (of: string) => `throughline prompt --session ${of} --kind session-start`,
  propose: (of = 'default') =>
    `throughline learning propose "Run the linter before you hand in" --project ${of}`,
} as const;
