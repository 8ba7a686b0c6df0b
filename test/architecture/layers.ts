import type { Module } from './modules.js';

/**
 * Who may import whom: the source layout of the architecture as rules. A file that lies in no folder goes by its own
 * name; a folder that does not exist yet is ruled already.
 */

/** Values in, values out: no ports, no adapters, no I/O, no clock, no chance. */
export const PURE = ['facts', 'session', 'ledger', 'learnings', 'compaction', 'prompt', 'redaction'];
/** Files that pure folders and contracts use as well. */
export const SHARED = ['errors.ts', 'text.ts', 'decision.ts'];
const PURE_BUILT_INS = ['node:crypto', 'node:util'];

/** For each folder under a rule, whether it may import something of src, or a package. */
const ALLOWED: Readonly<Record<string, (target: string) => boolean>> = {
  contracts: oneOf(['contracts', ...SHARED], ['zod', 'node:crypto']),
  ...Object.fromEntries(
    PURE.map((folder) => [folder, oneOf(['contracts', ...PURE, ...SHARED], ['zod', ...PURE_BUILT_INS])]),
  ),
  // Task files are Markdown: its parser is a pure function too.
  ledger: oneOf(['contracts', ...PURE, ...SHARED], ['zod', 'markdown-it', ...PURE_BUILT_INS]),
  ports: oneOf(['ports', 'contracts'], []),
  secretlint: oneOf(['redaction'], ['@secretlint/secretlint-rule-preset-recommend']),
  workers: noneOf([
    'nats',
    'memory',
    'secretlint',
    'cli',
    'server',
    'client',
    'main.ts',
    'index.ts',
    'config.ts',
  ]),
  server: noneOf(['nats', 'memory', 'workers', 'cli', 'client', 'main.ts', 'index.ts', 'config.ts']),
  nats: noneOf(['memory', 'workers', 'cli', 'main.ts', 'index.ts', 'config.ts']),
  memory: noneOf(['nats', 'workers', 'cli', 'server', 'main.ts', 'index.ts', 'config.ts']),
  embedders: noneOf([
    'nats',
    'memory',
    'workers',
    'cli',
    'server',
    'client',
    'main.ts',
    'index.ts',
    'config.ts',
  ]),
  client: noneOf(['nats', 'memory', 'workers', 'cli', 'server', 'main.ts', 'index.ts', 'config.ts']),
};

/** Packages that one folder imports, and nobody else. */
const EXCLUSIVE = [
  ['nats', 'nats'],
  ['@secretlint/secretlint-rule-preset-recommend', 'secretlint'],
] as const;

/** What must not stand in a pure file, as text: the same state at the same sequence gives the same bytes. */
const IMPURE = [
  /\bDate\s*\.\s*now\b/,
  /\bnew\s+Date\b/,
  /\bMath\s*\.\s*random\b/,
  /\bperformance\b/,
  /\brandomUUID\b/,
];

/** Each broken rule as `file: what it must not`. */
export function violations(modules: readonly Module[]): string[] {
  return modules.flatMap((module) => {
    const folder = areaOf(module.path);
    const forbidden = module.imports.filter(
      (target) =>
        !(ALLOWED[folder]?.(target) ?? true) ||
        EXCLUSIVE.some(([name, only]) => isPackage(target, name) && folder !== only),
    );
    const impure = PURE.includes(folder) ? IMPURE.filter((pattern) => pattern.test(module.source)) : [];
    const environment = module.path !== 'config.ts' && /\bprocess\s*\.\s*env\b/.test(module.source);
    return [
      ...forbidden.map((target) => `${module.path}: imports ${target}`),
      ...impure.map((pattern) => `${module.path}: holds ${pattern.source}`),
      ...(environment ? [`${module.path}: reads process.env`] : []),
    ];
  });
}

/** The areas, folders and single files of src, that an area may import by its rule, itself aside. */
export function importable(area: string, areas: readonly string[]): string[] {
  const rule = ALLOWED[area] ?? (() => true);
  return areas.filter((each) => each !== area && rule(each.endsWith('.ts') ? each : `${each}/any.ts`));
}

/** Every import that leads back to its own file, as the round trip; imports of types count. */
export function cycles(modules: readonly Module[]): string[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (path: string, trail: readonly string[]) => {
    const seenAt = trail.indexOf(path);
    if (seenAt !== -1) found.push([...trail.slice(seenAt), path].join(' > '));
    if (seenAt !== -1 || done.has(path)) return;
    for (const target of byPath.get(path)?.imports ?? []) walk(target, [...trail, path]);
    done.add(path);
  };
  for (const { path } of modules) walk(path, []);
  return found;
}

/** Imports of files in src that are not there. */
export function danglingImports(modules: readonly Module[]): string[] {
  const paths = new Set(modules.map((module) => module.path));
  return modules.flatMap(({ path, imports }) =>
    imports
      .filter((target) => target.endsWith('.ts') && !paths.has(target))
      .map((target) => `${path}: ${target}`),
  );
}

/** The folder of src that a file lies in, or its own name where it lies in none. */
export function areaOf(path: string): string {
  return path.split('/')[0] ?? path;
}

function isPackage(target: string, name: string): boolean {
  return target === name || (target.startsWith(`${name}/`) && !target.endsWith('.ts'));
}

function oneOf(areas: readonly string[], packages: readonly string[]): (target: string) => boolean {
  return (target) =>
    target.endsWith('.ts')
      ? areas.includes(areaOf(target))
      : packages.some((name) => isPackage(target, name));
}

function noneOf(areas: readonly string[]): (target: string) => boolean {
  return (target) => !(target.endsWith('.ts') && areas.includes(areaOf(target)));
}
