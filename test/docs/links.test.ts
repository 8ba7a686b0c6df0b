import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, pages, ROOT } from '../../scripts/docs/pages.js';

const PAGES = pages();
const LINKS = PAGES.flatMap(({ path, text }) =>
  [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => ({ path, link })),
);

describe('the pages', () => {
  it('the pages link only to files that exist', () => {
    expect(LINKS.length).toBeGreaterThan(40);
    const dead = LINKS.filter(({ path, link }) => {
      const [file = ''] = link.split('#');
      return file !== '' && !existsSync(ROOT + posix.join(posix.dirname(path), file));
    });
    expect(dead).toEqual([]);
  });

  it('the pages link only to headings that exist', () => {
    const dead = LINKS.filter(({ path, link }) => {
      const [file = '', anchor] = link.split('#');
      if (anchor === undefined) return false;
      const target = file === '' ? path : posix.join(posix.dirname(path), file);
      const page = PAGES.find((each) => each.path === target);
      return page === undefined || !anchorsOf(page.text).includes(anchor);
    });
    expect(dead).toEqual([]);
  });

  it('the pages can all be reached from the README', () => {
    const reached = new Set(['README.md']);
    for (const path of reached) {
      for (const { link } of LINKS.filter((each) => each.path === path))
        if (link.split('#')[0]?.endsWith('.md'))
          reached.add(posix.join(posix.dirname(path), link.split('#')[0] ?? ''));
    }
    expect(PAGES.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  });

  it('the pages hold no tag outside of code: GitHub would swallow it', () => {
    const tags = PAGES.flatMap(({ path, text }) =>
      [...text.replace(/```[\s\S]*?```|(`+)[^`][\s\S]*?\1/g, '').matchAll(/<\/?[a-z][^>\n]*>/gi)].map(
        ([tag]) => `${path}: ${tag}`,
      ),
    );
    expect(tags).toEqual([]);
  });

  it('the pages begin with what they are for, and the README stays short', () => {
    expect(PAGES[0]?.text.split('\n').length).toBeLessThanOrEqual(121);
    const bare = PAGES.filter(({ text }) => !/^# .+\n\n[^#|\n`]/.test(text)).map(({ path }) => path);
    expect(bare).toEqual([]);
  });
});

describe('the README', () => {
  const { text = '' } = PAGES[0] ?? {};
  const textOf = (path: string) => PAGES.find((each) => each.path === path)?.text ?? '';

  it('the first screen needs no term that it does not explain', () => {
    const first = text
      .split('\n')
      .slice(0, 45)
      .join('\n')
      .replace(/\]\([^)]*\)/g, ']');
    expect(first.match(/\b(dispatch(es)?|ledgers?|facts?|intents?|folds?)\b/gi)).toBeNull();
  });

  it('the comparison at the top shows what the tutorial of two agents prints', () => {
    const tutorial = textOf('docs/tutorial/two-agents.md');
    const table = text.split('\n').filter((line) => line.startsWith('| the '));
    const shown = table.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code));
    expect(shown.length).toBeGreaterThan(8);
    const lines = shown.flatMap((code) => code.split(/(?<=:) (?=- )/));
    expect(lines.filter((line) => !tutorial.includes(line))).toEqual([]);
  });

  it('the memory of the next morning is the one that a page shows and that tests compare', () => {
    const [, morning = ''] = /```text\n([\s\S]*?)```/.exec(text) ?? [];
    expect(morning).toContain('Memory of shop');
    expect(textOf('docs/how-to/connect-an-agent.md')).toContain(morning);
    expect(textOf('docs/tutorial/claude-code.md')).toContain(morning);
  });
});
