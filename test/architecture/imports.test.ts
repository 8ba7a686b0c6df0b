import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cycles, danglingImports, LAYERS, sameNames, sameTypes, violations } from './layers.js';
import { moduleOf, modulesOfSrc } from './modules.js';

const SRC = modulesOfSrc();

describe('the source', () => {
  it('the source is read whole, with every import found in it', () => {
    expect(SRC.length).toBeGreaterThan(50);
    expect(danglingImports(SRC)).toEqual([]);
    expect(SRC.find(({ path }) => path === 'memory/facts/fact-store.ts')?.imports).toEqual([
      'contracts/fact-requests.ts',
      'contracts/kept-limits.ts',
      'contracts/kinds.ts',
      'contracts/recorded-fact.ts',
      'contracts/relations.ts',
      'shared/collections.ts',
      'shared/text.ts',
      'memory/search/tokens.ts',
      'memory/facts/done-work.ts',
      'memory/facts/fact-index.ts',
      'memory/facts/fact-types.ts',
      'memory/facts/statements.ts',
    ]);
  });

  it('what scripts and test processes load of the build has a source', () => {
    const folders = ['scripts', 'test/support'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.mjs'))
        .map((path) => `${folder}/${path}`),
    );
    const dead = folders.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/dist\/([\w/.-]+)\.js'/g)]
        .map(([, module = '']) => module)
        .filter((module) => !existsSync(`src/${module}.ts`))
        .map((module) => `${path}: dist/${module}.js`),
    );
    expect(dead).toEqual([]);
  });

  it('the source keeps to its layers', () => {
    expect(violations(SRC)).toEqual([]);
  });

  it('the source gives no two files, and no two exported types, one name', () => {
    expect(sameNames(SRC)).toEqual([]);
    expect(sameTypes(SRC)).toEqual([]);
  });

  it('the source has a file in every folder that has a rule', () => {
    const folders = Object.keys(LAYERS).filter(
      (folder) => !SRC.some(({ path }) => path === folder || path.startsWith(`${folder}/`)),
    );
    expect(folders).toEqual([]);
  });

  it('the source has no import cycle', () => {
    expect(cycles(SRC)).toEqual([]);
  });
});

describe('the rules', () => {
  const broken = (path: string, source: string) => violations([moduleOf(path, source)]);

  it.each([
    [
      'memory/facts/a.ts',
      "import type { Clock } from '../../engine/ports/clock.js'",
      'imports engine/ports/clock.ts',
    ],
    ['prompt/a.ts', "import '../config/config.js'", 'imports config/config.ts'],
    ['memory/learnings/a.ts', "import { readFileSync } from 'node:fs'", 'imports node:fs'],
    ['memory/traces/a.ts', "import pino from 'pino'", 'imports pino'],
    ['memory/search/a.ts', "import '../../memory/facts/fact-store.js'", 'imports memory/facts/fact-store.ts'],
    ['memory/facts/a.ts', 'export const a = () => Date.now()', 'holds \\bDate\\s*\\.\\s*now\\b'],
    ['memory/facts/a.ts', 'export const a = () => new Date(0)', 'holds \\bnew\\s+Date\\b'],
    ['memory/facts/a.ts', 'export const a = () => Math.random()', 'holds \\bMath\\s*\\.\\s*random\\b'],
    ['memory/facts/a.ts', 'export const a = process.env.A', 'reads process.env'],
    ['contracts/a.ts', "import '../memory/facts/fact-store.js'", 'imports memory/facts/fact-store.ts'],
    ['shared/a.ts', "import '../contracts/names.js'", 'imports contracts/names.ts'],
    ['engine/ports/a.ts', "import type { Msg } from 'nats'", 'imports nats'],
    ['services/a.ts', "const cli = () => import('../cli/bin.js')", 'imports cli/bin.ts'],
    ['nats/server/a.ts', "import '../../nats/open-nats.js'", 'imports nats/open-nats.ts'],
    ['sdk/a.ts', "import '../nats/open-nats.js'", 'imports nats/open-nats.ts'],
    ['cli/a.ts', "import type { NatsConnection } from 'nats'", 'imports nats'],
    ['cli/a.ts', "import '../page/app.js'", 'imports page/app.tsx'],
    ['services/serve.ts', "import { connect } from 'nats/lib/src/mod.js'", 'imports nats/lib/src/mod.js'],
  ])('the import rules are broken by %s with %s', (path, source, broke) => {
    expect(broken(path, source)).toEqual([`${path}: ${broke}`]);
  });

  it('the import rules refuse a folder that has no rule', () => {
    expect(broken('helpers/a.ts', 'export const a = 1')).toEqual([
      'helpers/a.ts: lies in a folder without a rule',
    ]);
  });

  it('the import rules find source files and exported types that share a name', () => {
    const modules = [
      moduleOf('a/one.ts', 'export type A = 1; export interface B {}'),
      moduleOf('b/one.ts', 'export class B {}'),
    ];
    expect(sameNames(modules)).toEqual(['one.ts: a/one.ts, b/one.ts']);
    expect(sameTypes([...modules.slice(1), moduleOf('c.ts', 'export interface B {}')])).toEqual([
      'B: b/one.ts, c.ts',
    ]);
  });

  it('the import rules find a cycle of any length, imports of types included, and each once', () => {
    const modules = [
      moduleOf('a.ts', "import './b.js'; import './d.js'"),
      moduleOf('b.ts', "import type { C } from './c.js'"),
      moduleOf('c.ts', "export * from './a.js'"),
      moduleOf('d.ts', "import './b.js'"),
      moduleOf('e.ts', "import './e.js'"),
    ];
    expect(cycles(modules)).toEqual(['a.ts > b.ts > c.ts > a.ts', 'e.ts > e.ts']);
    expect(cycles(modules.slice(1, 4))).toEqual([]);
  });

  it('the import rules miss no file that an import names', () => {
    expect(danglingImports([moduleOf('a.ts', "import './b.js'; import 'nats'")])).toEqual(['a.ts: b.ts']);
  });
});
