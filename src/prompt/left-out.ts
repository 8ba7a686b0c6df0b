import { projectOf } from '../contracts/names.js';
import { type Item, isShortened, type ShownItem } from './fill-prompt.js';

/** Items of one name of which a prompt may show fewer than there are. */
export interface Listed {
  readonly name: string;
  readonly items: readonly Item[];
  readonly shown: readonly ShownItem[];
  /** How many there were, where some were cut before. */
  readonly total?: number;
  /** Lists all of them. */
  readonly command: string;
}

/** The beginning of the line that says what is left out. */
export const LEFT_OUT = 'Left out for space:';

/** One line that counts what is left out and names the commands that show it; empty where nothing is. */
export function leftOutLine(lists: readonly Listed[]): string {
  const said = lists.flatMap(({ name, items, shown, total = items.length, command }) => {
    const left = total - shown.length;
    if (left <= 0 && !isShortened(items, shown)) return [];
    return [`${left > 0 ? left : 'parts'} of ${name} (\`${command}\`)`];
  });
  if (said.length === 0) return '';
  return `${LEFT_OUT} ${said.join(', ')}`;
}

/** A word of a command line, quoted where a shell would read more into it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The option that names a project, the default one, too: where the command is run, another one may be the usual one. */
export function projectOption(project: string | undefined): string {
  return ` --project ${projectOf(project)}`;
}
