import { pages } from '../../scripts/docs/pages.js';

/** A command that a page shows: as a shell would run it, without the comment behind it. */
export interface DocumentedCommand {
  readonly page: string;
  readonly line: string;
}

const BLOCK = /```sh\n([\s\S]*?)```/g;

/** The commands of `throughline` in the shell blocks of all pages, in their order. */
export function documentedCommands(): DocumentedCommand[] {
  return pages().flatMap(({ path: page, text }) =>
    [...text.matchAll(BLOCK)].flatMap(([, block = '']) =>
      commandsOf(block)
        .filter((line) => /(^|[|&;({ ])throughline /.test(line))
        .map((line) => ({ page, line })),
    ),
  );
}

/** The lines of a block, those that go on joined, without comments. */
function commandsOf(block: string): string[] {
  return block
    .replace(/\\\n\s*|(?<=\|)\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.replace(/(^|\s+)#\s.*$/, '').trim())
    .filter((line) => line !== '');
}

/** What `throughline` is called with in a command: words as a shell splits them. */
export function argumentsOf(line: string): string[][] {
  // What a shell puts in place of $(…) is called as well, and gives a number.
  const inner = [...line.matchAll(/\$\(([^()]*)\)/g)].map(([, called = '']) => called);
  const outer = line.replace(/\$\([^()]*\)/g, '1');
  const parts = [outer, ...inner].flatMap((each) => each.split(/\s(?:\||&&|;)\s|<\(/));
  return parts.flatMap((part) => {
    const called = /(?:^|\s)throughline\s+(.*)$/.exec(part.replace(/\s[<>].*$/, ''));
    return called === null ? [] : [wordsOf(called[1] ?? '')];
  });
}

function wordsOf(text: string): string[] {
  return [...text.replace(/\)$/, '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
}
