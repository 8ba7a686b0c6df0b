import type { Command } from 'commander';
import { usageError } from '../contracts/errors.js';
import { visible, visibleInColour } from '../shared/terminal-text.js';
import { shellWord } from '../shared/text.js';
import { givenOptions } from './option-parsers.js';

/** The output of commands: answers go to standard output, everything else to standard error. */

/** Writes an answer, made visible as everything that is printed. `inColour`: the command has set colours in it. */
export function out(text: string, inColour = false): void {
  write(inColour ? visibleInColour(text) : visible(text));
}

/** Writes a prompt, which is for an agent: byte for byte into a file or a pipe, made visible on a terminal. */
export function outForAgent(text: string): void {
  write(process.stdout.isTTY ? visible(text) : text);
}

function write(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

export function note(text: string): void {
  process.stderr.write(`${visible(text)}\n`);
}

export type Cell = string | { readonly text: string; readonly colour: (text: string) => string };

/** A cell up to this length sets the width of its column. */
const MAX_COLUMN = 40;

export function table(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  dim: (text: string) => string,
): string[] {
  const widths = headings.map((heading, column) =>
    rows.reduce((width, row) => {
      const { length } = textOf(row[column] ?? '');
      return length > MAX_COLUMN ? width : Math.max(width, length);
    }, heading.length),
  );
  const line = (row: readonly Cell[]) => {
    const cells = row.map((cell, column) => {
      const text = column === row.length - 1 ? textOf(cell) : textOf(cell).padEnd(widths[column] ?? 0);
      return typeof cell === 'string' ? text : cell.colour(text);
    });
    return cells.join('  ').trimEnd();
  };
  return [dim(line(headings)), ...rows.map(line)];
}

export function inLine(cells: readonly Cell[], between = ' '): string {
  return cells.map((cell) => (typeof cell === 'string' ? cell : cell.colour(cell.text))).join(between);
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/**
 * Asks the person at the terminal; `--yes` answers.
 *
 * @throws ThroughlineError `usage` without a terminal
 * @throws Interrupted by Ctrl-C
 */
export async function confirmed(question: string, yes: boolean | undefined): Promise<boolean> {
  if (yes === true) return true;
  if (!canAsk()) throw usageError('nothing was changed: no terminal is attached to confirm this. Add --yes');
  const isAgreed = await agreed(`${question} [y/N] `);
  if (!isAgreed) note('-- nothing was changed');
  return isAgreed;
}

/** Returns true if the person at the terminal says yes; without a terminal no one does. @throws Interrupted by Ctrl-C */
export async function agreed(question: string): Promise<boolean> {
  if (!canAsk()) return false;
  // Loaded here: hooks start without it.
  const { createInterface } = await import('node:readline/promises');
  // Not as a terminal: Ctrl-C stays a signal, by which the whole command ends.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const ended = new AbortController();
  const onSignal = () => ended.abort();
  process.once('SIGINT', onSignal);
  lines.once('close', onSignal);
  try {
    return /^\s*y(es)?\s*$/i.test(await lines.question(question, { signal: ended.signal }));
  } catch {
    throw new Interrupted(130);
  } finally {
    process.off('SIGINT', onSignal);
    lines.close();
  }
}

/** Returns what a person types without showing it; without a terminal, all of standard input. @throws Interrupted by Ctrl-C */
export async function secretAnswer(question: string): Promise<string> {
  const { text } = await import('node:stream/consumers');
  if (!canAsk()) return (await text(process.stdin)).trim();
  const { createInterface } = await import('node:readline');
  // A terminal without an output echoes nothing, nor what was typed ahead.
  const lines = createInterface({ input: process.stdin, terminal: true });
  process.stderr.write(question);
  return new Promise((resolve, reject) => {
    lines.once('line', (line) => {
      resolve(line.trim());
      lines.close();
    });
    lines.once('SIGINT', () => lines.close());
    lines.once('close', () => {
      process.stderr.write('\n');
      reject(new Interrupted(130));
    });
  });
}

/** Says once, on standard error, that a command waits, why, and for how long it will. */
export function waitingNote(leftMs: () => number): (failure: Error) => void {
  let isNoted = false;
  return ({ message }) => {
    if (isNoted) return;
    isNoted = true;
    const until = new Date(Date.now() + leftMs()).toTimeString().slice(0, 8);
    note(`-- no answer yet, trying again until ${until}: ${message}`);
  };
}

const NOTE_EVERY_MS = 5000;

/** Says on a terminal how far a long command is, in a line every few seconds. */
export function progressLine() {
  let notedAt = performance.now();
  return (text: string): void => {
    if (!process.stderr.isTTY || performance.now() - notedAt < NOTE_EVERY_MS) return;
    notedAt = performance.now();
    note(`-- ${text}`);
  };
}

export function noteNextPage(command: Command, next: string | undefined): void {
  if (next !== undefined) note(`-- the next page: ${nextPageCommand(command, next)}`);
}

/** The same command once more, from `place` on: with the arguments and options that were given to it and to the program. */
export function nextPageCommand(command: Command, place: string, option = 'page'): string {
  const words = [...command.args];
  for (let at: Command | null = command; at !== null; at = at.parent) {
    words.unshift(at.name());
    words.push(...givenOptions(at, [option]));
  }
  return [...words, `--${option}`, place].map(shellWord).join(' ');
}

/** All pages of a list, in their order: each but the last says where the next begins. */
export async function allPages<Page extends { readonly next?: string }>(
  ask: (cursor: { readonly cursor?: string }) => Promise<Page>,
): Promise<readonly [Page, ...Page[]]> {
  const first = await ask({});
  const rest: Page[] = [];
  for (let { next } = first; next !== undefined; ) {
    const page = await ask({ cursor: next });
    rest.push(page);
    next = page.next;
  }
  return [first, ...rest];
}

/** Ends a command that was interrupted, with the exit code that shells expect: 128 and the number of the signal. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('interrupted');
    this.name = 'Interrupted';
    this.exitCode = exitCode;
  }
}
