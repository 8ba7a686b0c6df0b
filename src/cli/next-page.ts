import type { Command } from 'commander';
import { shellWord } from './shell-word.js';

/** The line that says how to go on with a list; none where nothing is left. */
export function nextPageLines(command: Command, next: string | undefined): string[] {
  return next === undefined ? [] : [`-- the next page: ${nextPageCommand(command, next)}`];
}

/**
 * The same command once more, from `cursor` on: with the arguments and options that were given to it and to the program, and
 * `--page`.
 */
export function nextPageCommand(command: Command, cursor: string): string {
  const words = [...command.args];
  for (let at: Command | null = command; at !== null; at = at.parent) {
    words.unshift(at.name());
    words.push(...given(at));
  }
  return [...words, '--page', cursor].map(shellWord).join(' ');
}

/** The options that were given, but for the page. */
function given(command: Command): string[] {
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    if (name === 'page' || command.getOptionValueSource(name) !== 'cli') return [];
    const value: unknown = command.getOptionValue(name);
    const flag = option.long ?? option.short ?? '';
    if (value === true) return [flag];
    return [flag, ...(Array.isArray(value) ? value.map(String) : [String(value)])];
  });
}
