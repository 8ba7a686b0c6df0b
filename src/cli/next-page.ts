import type { Command } from 'commander';
import { shellWord } from './shell-word.js';

/** The same command once more, from `cursor` on: with the options that were given to it, and `--page`. */
export function nextPageCommand(command: Command, cursor: string): string {
  const words = [...given(command), '--page', cursor];
  for (let at: Command | null = command; at !== null; at = at.parent) words.unshift(at.name());
  return words.map(shellWord).join(' ');
}

/** The options that were given, but for the page. */
function given(command: Command): string[] {
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    if (name === 'page' || command.getOptionValueSource(name) !== 'cli') return [];
    const value: unknown = command.getOptionValue(name);
    const flag = option.long ?? option.short ?? '';
    return value === true ? [flag] : [flag, String(value)];
  });
}
