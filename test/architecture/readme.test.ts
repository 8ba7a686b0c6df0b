import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { areaOf, importable, PURE, SHARED } from './layers.js';
import { modulesOfSrc } from './modules.js';

const root = new URL('../../', import.meta.url);
const readme = await readFile(new URL('README.md', root), 'utf8');
const environment = await readFile(new URL('src/config/environment.ts', root), 'utf8');

/** Rows of the table under a heading, each as its cells. */
function table(heading: string): string[][] {
  const section = readme.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()));
}

/** What the README says of a folder's import rule: a list or its exceptions, whichever is shorter. */
function importsShown(folder: string, areas: readonly string[]): string {
  const allowed = importable(folder, areas);
  const others = areas.filter((area) => area !== folder && !allowed.includes(area));
  const named = (some: readonly string[]) => some.map((area) => `\`${area}\``);
  if (others.length === 0) return 'all';
  if (allowed.length > others.length) return `all but ${named(others).join(', ')}`;
  const [pure, shared] = [PURE.filter((area) => area !== folder), SHARED].map((group) =>
    group.every((area) => allowed.includes(area)) ? group : [],
  );
  const alone = allowed.filter((area) => !pure?.includes(area) && !shared?.includes(area));
  return [
    ...named(alone),
    ...(pure?.length ? ['pure folders'] : []),
    ...(shared?.length ? ['shared files'] : []),
  ].join(', ');
}

describe('the README', () => {
  it('links only to files that are there', () => {
    const links = [...readme.matchAll(/\]\((?!http)([^)#]+)/g)].map(([, path]) => path ?? '');
    expect(links.length).toBeGreaterThan(14);
    expect(links.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  it('names for each stage of a message its file and the test that proves it', () => {
    const stages = table('One message, end to end');
    expect(stages.map(([stage]) => stage)).toEqual([
      'publish',
      'validate',
      'extract',
      'append',
      'fold',
      'snapshot',
      'learn',
      'decide',
      'compile',
    ]);
    for (const [, , file, proof] of stages) {
      expect(file).toMatch(/\(src\//);
      expect(proof).toMatch(/\(test\/.*\.test\.ts\)/);
    }
  });

  it('lists every folder of the source once, with what its import rule allows', () => {
    const areas = [...new Set(modulesOfSrc().map(({ path }) => areaOf(path)))];
    const rows = table('Where things are').flatMap(([named = '', , told]) =>
      [...named.matchAll(/`src\/([^`]+)`/g)].map(([, area = '']) => ({ area, told })),
    );
    expect(
      rows
        .map(({ area }) => area)
        .filter((area) => !area.endsWith('.ts'))
        .sort(),
    ).toEqual(areas.filter((area) => !area.endsWith('.ts')));
    expect(rows).toEqual(rows.map(({ area }) => ({ area, told: importsShown(area, areas) })));
  });

  it('names the groups of its import rules', () => {
    const list = (group: readonly string[]) => group.map((area) => `\`${area}\``).join(', ');
    expect(readme).toContain(`Pure folders are ${list(PURE)}; shared files are ${list(SHARED)}.`);
  });

  it('says of every variable what it does, and of no other', () => {
    const read = [...environment.matchAll(/^ {2}((?:NATS|THROUGHLINE)_[A-Z_]+):/gm)].map(
      ([, name]) => name ?? '',
    );
    const elsewhere = ['NATS_SERVER_BIN', 'THROUGHLINE_CACHE_DIR', 'THROUGHLINE_TEST_NATS'];
    const told = table('Configuration').flatMap(([names]) => names?.match(/[A-Z]+_[A-Z_]+/g) ?? []);
    expect(told.sort()).toEqual([...read, ...elsewhere].sort());
  });

  it('gives the defaults that the code has', () => {
    const wrong = table('Configuration').flatMap(([names, fallback]) => {
      const defaults = fallback?.split(', ') ?? [];
      return (names?.match(/THROUGHLINE_[A-Z_]+/g) ?? []).flatMap((name, index) => {
        const source = new RegExp(`${name}: (?:wholeNumber|decimal)\\([^,]+, [^,]+, ([\\d_ .*]+)\\)`).exec(
          environment,
        )?.[1];
        if (source === undefined) return [];
        const value = source
          .split('*')
          .reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
        return defaults[index] === String(value) ? [] : [`${name}: ${value}, not ${defaults[index]}`];
      });
    });
    expect(wrong).toEqual([]);
  });
});
