import { visible, visibleInColour } from '../shared/terminal-text.js';

/** What commands print: answers go to standard output, everything else to standard error. */

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

/** Text for `addHelpText('after', …)`. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`;
}
