import { describe, expect, it } from 'vitest';
import { cycles, danglingImports, violations } from './layers.js';
import { moduleOf, modulesOfSrc } from './modules.js';

const SRC = modulesOfSrc();

describe('the source', () => {
  it('is read whole, with every import found in it', () => {
    expect(SRC.length).toBeGreaterThan(50);
    expect(danglingImports(SRC)).toEqual([]);
    expect(SRC.find(({ path }) => path === 'facts/store.ts')?.imports).toEqual([
      'facts/fact-id.ts',
      'facts/term-index.ts',
      'facts/types.ts',
    ]);
  });

  it('keeps to its layers', () => {
    expect(violations(SRC)).toEqual([]);
  });

  it('has no import cycle', () => {
    expect(cycles(SRC)).toEqual([]);
  });
});

describe('the reader of imports', () => {
  it.each([
    ["import { a } from './b.js'", ['facts/b.ts']],
    ["import type { A } from '../ports/b.js'", ['ports/b.ts']],
    ["import './b.js'", ['facts/b.ts']],
    ["export { a } from './b.js'", ['facts/b.ts']],
    ["export type { A } from './b.js'", ['facts/b.ts']],
    ["export * from '../text.js'", ['text.ts']],
    ["const b = await import('./b.js')", ['facts/b.ts']],
    ["type B = import('./b.js').B", ['facts/b.ts']],
    ["import b = require('nats')", ['nats']],
    ["import { a } from 'nats'; import 'nats'", ['nats']],
    ['const text = "import \'./b.js\'"; export const c = 1', []],
  ])('finds in %j: %j', (source, imports) => {
    expect(moduleOf('facts/a.ts', source).imports).toEqual(imports);
  });

  it.each([['const b = await import(name)'], ['import {']])('refuses what it cannot read: %j', (source) => {
    expect(() => moduleOf('facts/a.ts', source)).toThrow('facts/a.ts: ');
  });
});

describe('the rules', () => {
  const broken = (path: string, source: string) => violations([moduleOf(path, source)]);

  it.each([
    ['facts/a.ts', "import type { Clock } from '../ports/clock.js'", 'imports ports/clock.ts'],
    ['session/a.ts', "import '../workers/extractor.js'", 'imports workers/extractor.ts'],
    ['ledger/a.ts', "import '../memory/session-log.js'", 'imports memory/session-log.ts'],
    ['prompt/a.ts', "import '../config.js'", 'imports config.ts'],
    ['learnings/a.ts', "import { readFileSync } from 'node:fs'", 'imports node:fs'],
    ['compaction/a.ts', "import pino from 'pino'", 'imports pino'],
    ['facts/a.ts', 'export const a = () => Date.now()', 'holds \\bDate\\s*\\.\\s*now\\b'],
    ['facts/a.ts', 'export const a = () => new Date(0)', 'holds \\bnew\\s+Date\\b'],
    ['facts/a.ts', 'export const a = () => Math.random()', 'holds \\bMath\\s*\\.\\s*random\\b'],
    ['facts/a.ts', 'export const a = process.env.A', 'reads process.env'],
    ['contracts/a.ts', "import '../facts/store.js'", 'imports facts/store.ts'],
    ['contracts/a.ts', "import '../lifecycle.js'", 'imports lifecycle.ts'],
    ['ports/a.ts', "export * from '../facts/types.js'", 'imports facts/types.ts'],
    ['ports/a.ts', "import type { Msg } from 'nats'", 'imports nats'],
    ['workers/a.ts', "import '../nats/open.js'", 'imports nats/open.ts'],
    ['workers/a.ts', "const cli = () => import('../cli/cli.js')", 'imports cli/cli.ts'],
    ['workers/a.ts', "import '../server/find.js'", 'imports server/find.ts'],
    ['server/a.ts', "import '../nats/open.js'", 'imports nats/open.ts'],
    ['server/a.ts', "import { connect } from 'nats'", 'imports nats'],
    ['cli/a.ts', "import type { NatsConnection } from 'nats'", 'imports nats'],
    ['cli/a.ts', 'export const a = process.env', 'reads process.env'],
    ['main.ts', "import { connect } from 'nats/lib/src/mod.js'", 'imports nats/lib/src/mod.js'],
    ['redaction/a.ts', "import '../secretlint/scanner.js'", 'imports secretlint/scanner.ts'],
    ['workers/a.ts', "import '../secretlint/scanner.js'", 'imports secretlint/scanner.ts'],
    [
      'main.ts',
      "import { rules } from '@secretlint/secretlint-rule-preset-recommend'",
      'imports @secretlint/secretlint-rule-preset-recommend',
    ],
  ])('are broken by %s with %s', (path, source, broke) => {
    expect(broken(path, source)).toEqual([`${path}: ${broke}`]);
  });

  it.each([
    [
      'facts/a.ts',
      "import { createHash } from 'node:crypto'; import '../contracts/names.js'; import '../text.js'",
    ],
    ['prompt/a.ts', "import '../session/state.js'; import '../facts/store.js'"],
    ['contracts/a.ts', "import { z } from 'zod'; import '../errors.js'; import './names.js'"],
    ['nats/a.ts', "import { connect } from 'nats'; import '../ports/session-log.js'"],
    [
      'workers/a.ts',
      "import '../ports/clock.js'; import '../session/evolve.js'; export const a = Date.now()",
    ],
    ['config.ts', 'export const a = process.env'],
    ['main.ts', "import './nats/open.js'; import './workers/extractor.js'"],
  ])('are kept by %s with %s', (path, source) => {
    expect(broken(path, source)).toEqual([]);
  });

  it('find a cycle of any length, imports of types included, and each once', () => {
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

  it('miss no file that an import names', () => {
    expect(danglingImports([moduleOf('a.ts', "import './b.js'; import 'nats'")])).toEqual(['a.ts: b.ts']);
  });
});
