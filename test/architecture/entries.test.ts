import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isSource, loadedWith, modulesOfSrc } from './modules.js';

/** What each entry point, and each command that must start fast, loads. */

const SRC = modulesOfSrc();
const packagesOf = (...paths: string[]) => {
  const names = loadedWith(SRC, ...paths)
    .filter((path) => !/\.(tsx?|css)$/.test(path) && !path.startsWith('node:'))
    .map((path) => /^(@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  return [...new Set(names)].sort();
};
const foldersOf = (...paths: string[]) => [
  ...new Set(
    loadedWith(SRC, ...paths)
      .filter((path) => path.includes('/') && isSource(path))
      .map((path) => path.split('/')[0]),
  ),
];

/** Files at the top of src that no one imports by name. */
const INTERNAL = ['globals.ts', 'version.ts'];

describe('the package', () => {
  it('the package has an entry point for each file at the top of src', () => {
    const manifest: { exports: Record<string, string | { types: string; default: string }> } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    );
    const entries = SRC.map(({ path }) => path).filter(
      (path) => !path.includes('/') && !INTERNAL.includes(path),
    );
    const exported = entries.map((path) => {
      const file = `./dist/${path.replace(/\.ts$/, '')}`;
      const name = path === 'index.ts' ? '.' : `./${path.slice(0, -'.ts'.length)}`;
      return [name, { types: `${file}.d.ts`, default: `${file}.js` }];
    });
    expect(manifest.exports).toEqual({
      ...Object.fromEntries(exported),
      './schemas/*.json': './schemas/*.json',
      './package.json': './package.json',
    });
  });
});

describe('the client', () => {
  it('the client loads no services and no schemas, only what talks to NATS', () => {
    expect(packagesOf('index.ts')).toEqual(['lru-cache', 'nats']);
    expect(foldersOf('index.ts').sort()).toEqual([
      'config',
      'contracts',
      'engine',
      'memory',
      'nats',
      'sdk',
      'shared',
    ]);
    // Of the folder that starts servers, only the oldest version that will do, and what finds the user's server.
    const own = loadedWith(SRC, 'index.ts').filter((path) => path.startsWith('nats/server/'));
    expect(own.sort()).toEqual([
      'nats/server/process-identity.ts',
      'nats/server/server-store.ts',
      'nats/server/server-version.ts',
    ]);
  });
});

describe('the parts that need no server', () => {
  it('the parts that need no server load the stemmer alone for facts, nothing for traces, and zod alone for schemas', () => {
    expect(packagesOf('facts.ts')).toEqual(['stemmer']);
    expect(packagesOf('traces.ts')).toEqual([]);
    expect(packagesOf('schemas.ts')).toEqual(['zod']);
    expect(foldersOf('facts.ts')).not.toContain('nats');
    expect(foldersOf('schemas.ts').sort()).toEqual(['contracts', 'shared']);
  });
});

describe('the command line', () => {
  it('the command line loads no package for a hook, and commander alone before it knows another command', () => {
    expect(packagesOf('cli/bin.ts', 'cli/hook-command.ts')).toEqual([]);
    expect(packagesOf('cli/program.ts')).toEqual(['commander']);
  });

  it('the command line compiles a prompt without logger, schemas and scanners', () => {
    const compiling = ['cli/program.ts', 'cli/prompt-command.ts', 'cli/open-client.ts'];
    expect(packagesOf(...compiling)).toEqual(['commander', 'lru-cache', 'nats']);
  });

  it('the command line publishes a result with the schemas that check it, and nothing else', () => {
    const publishing = ['cli/program.ts', 'cli/publish-command.ts', 'cli/open-client.ts'];
    expect(packagesOf(...publishing)).toEqual(['commander', 'jsonrepair', 'lru-cache', 'nats', 'zod']);
  });
});

describe('the page', () => {
  it('the page loads preact and its signals, and of the product only helpers for values', () => {
    const page = SRC.map(({ path }) => path).filter((path) => path.startsWith('page/'));
    expect(packagesOf('page/main.tsx')).toEqual(expect.arrayContaining(['preact']));
    expect(foldersOf(...page).filter((folder) => folder !== 'page' && folder !== 'shared')).toEqual([]);
    expect(loadedWith(SRC, ...page).filter((path) => path.startsWith('node:'))).toEqual([]);
  });
});
