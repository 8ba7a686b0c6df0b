import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, pages, ROOT } from './pages.js';

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
