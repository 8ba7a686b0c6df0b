import { type Item, isShortened, type ShownItem } from './fill-prompt.js';

/** Items of one name of which a prompt may show fewer than there are. */
export interface Listed {
  readonly name: string;
  readonly items: readonly Item[];
  readonly shown: readonly ShownItem[];
  /** Lists all of them. */
  readonly command: string;
}

/** The beginning of the line that says what is left out. */
export const LEFT_OUT = 'Left out for space:';

/** One line that counts what is left out and names the commands that show it; empty where nothing is. */
export function leftOutLine(lists: readonly Listed[]): string {
  const short = lists.filter(({ items, shown }) => isShortened(items, shown));
  if (short.length === 0) return '';
  const said = short.map(({ name, items, shown, command }) => {
    const left = items.length - shown.length;
    return `${left === 0 ? 'parts' : left} of ${name} (\`${command}\`)`;
  });
  return `${LEFT_OUT} ${said.join(', ')}`;
}

/** A word of a command line, quoted where a shell would read more into it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
