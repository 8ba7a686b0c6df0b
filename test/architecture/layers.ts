import { isSource, type Module } from './modules.js';

/**
 * The import rules. Each entry is a folder of src, or a file at its top; a file belongs to the longest entry that its path
 * starts with. docs/contributing/README.md is generated from this table.
 */
export interface Layer {
  /** What the folder contains, for people. */
  readonly holds: string;
  /** Other entries that it may import. `memory` and `engine` allow every folder below them. */
  readonly imports: readonly string[];
  /** Packages and built-in modules that it may import. Absent: any that no other folder has for itself. */
  readonly packages?: readonly string[];
}

/** Values in, values out: no ports, no adapters, no I/O, no clock, no chance. */
export const PURE = ['ledger', 'memory', 'prompt', 'shared'] as const;

const PURE_PACKAGES = ['zod', 'node:crypto', 'node:util'];
const DOMAIN = ['contracts', 'ledger', 'memory', 'prompt', 'shared'];

export const LAYERS: Readonly<Record<string, Layer>> = {
  shared: {
    holds: 'helpers for values: text, counts, ages, deadlines',
    imports: [],
    packages: ['node:util', 'node:crypto', 'node:events'],
  },
  contracts: {
    holds: 'everything that crosses the wire: schemas, names, errors and their codes',
    imports: ['shared'],
    packages: ['zod', 'jsonrepair', 'node:crypto'],
  },
  ledger: {
    holds: 'the outcome of tasks: plans in Markdown, progress, signs that a task is stalled',
    imports: ['contracts', 'shared'],
    packages: PURE_PACKAGES,
  },
  'memory/search': {
    holds: 'tokens and meaning of a text, past results and the files that a task will likely touch',
    imports: ['shared'],
    packages: ['stemmer', 'lru-cache'],
  },
  'memory/facts': {
    holds: 'facts of a session: extraction by rule, store, retrieval',
    imports: ['contracts', 'memory/search', 'memory/traces', 'shared'],
    packages: PURE_PACKAGES,
  },
  'memory/traces': {
    holds: 'traces of intents, their summary, the hook before model calls',
    imports: ['contracts', 'shared'],
    packages: PURE_PACKAGES,
  },
  'memory/redaction': {
    holds: 'removal of secrets from text and JSON',
    imports: ['shared'],
  },
  'memory/session': {
    holds: 'a session: its state, the fold of its events, its commands, its snapshot',
    imports: ['contracts', 'ledger', 'memory/facts', 'memory/search', 'memory/traces', 'shared'],
    packages: [...PURE_PACKAGES, 'node:zlib'],
  },
  'memory/learnings': {
    holds: 'learnings and proposals of a project: fold, commands, harvest by rule, ranking',
    imports: ['contracts', 'memory/facts', 'memory/search', 'memory/session', 'shared'],
    packages: [...PURE_PACKAGES, 'node:zlib'],
  },
  prompt: {
    holds: 'prompts of each kind, their budget, their sections',
    imports: ['contracts', 'ledger', 'memory', 'shared'],
    packages: PURE_PACKAGES,
  },
  'engine/ports': {
    holds: 'what the product needs of the world, as contracts in words',
    imports: ['contracts'],
    packages: [],
  },
  'engine/runtime': {
    holds: 'retries, limits and shutdown of a process',
    imports: ['contracts', 'engine/ports', 'shared'],
  },
  'engine/folding': {
    holds: 'event sourcing: load a state, write its snapshot, run a command, catch up',
    imports: [...DOMAIN, 'engine/ports', 'engine/runtime'],
  },
  'engine/files': {
    holds: 'files on this machine: task files, and the state directory of the user',
    imports: ['contracts', 'engine/ports', 'shared'],
  },
  'nats/server': {
    holds: 'finds, installs and runs nats-server, and says who may connect',
    imports: ['contracts', 'engine/files', 'shared'],
  },
  nats: {
    holds: 'the ports on NATS: connection, JetStream, stores, micro services, doctor',
    imports: ['contracts', 'engine/ports', 'engine/runtime', 'nats/server', 'shared'],
  },
  config: {
    holds: 'the settings, the only reader of the environment, and the repositories of the user',
    imports: [
      'contracts',
      'engine/files',
      'engine/ports',
      'ledger',
      'memory/search',
      'memory/traces',
      'nats',
      'nats/server',
      'shared',
    ],
  },
  services: {
    holds: 'extractor, compiler, tools, learnings and keeper: handlers and their wiring, one folder each',
    imports: [...DOMAIN, 'config', 'engine', 'nats', 'version.ts'],
  },
  sdk: {
    holds: 'the client: publish, request, and follow',
    imports: ['contracts', 'engine/ports', 'engine/runtime', 'memory/traces', 'shared'],
  },
  page: {
    holds: 'what the inspector shows in the browser; it imports only types of `contracts`',
    imports: ['contracts', 'shared'],
    packages: ['preact', '@preact/signals'],
  },
  work: {
    holds: 'runs of a plan with agents: the steps of a task, agents that are commands',
    imports: [
      'contracts',
      'engine/files',
      'engine/ports',
      'ledger',
      'memory/redaction',
      'memory/traces',
      'nats/server',
      'prompt',
      'sdk',
      'shared',
    ],
  },
  agents: {
    holds:
      'how coding agents plug in: `hooks`, `mcp`, and `connect`, which edits the configuration of each client',
    imports: [...DOMAIN, 'config', 'engine/files', 'sdk', 'version.ts'],
  },
  cli: {
    holds: 'the command line',
    imports: [
      ...DOMAIN,
      'agents',
      'config',
      'engine',
      'nats',
      'nats/server',
      'sdk',
      'services',
      'version.ts',
      'work',
    ],
  },
  'facts.ts': entry('`throughline/facts`', ['contracts', 'memory/facts', 'shared']),
  'traces.ts': entry('`throughline/traces`', ['contracts', 'memory/traces', 'shared']),
  'schemas.ts': entry('`throughline/schemas`', ['contracts', 'shared']),
  'server.ts': entry('`throughline/server`, which also starts services in a process', [
    ...['config', 'contracts', 'engine', 'memory', 'nats', 'nats/server', 'services', 'shared'],
  ]),
  'work.ts': entry('`throughline/work`', [
    'cli',
    'config',
    'contracts',
    'engine',
    'memory',
    'nats',
    'nats/server',
    'sdk',
    'shared',
    'work',
  ]),
  'index.ts': entry('`throughline`', [
    ...['config', 'contracts', 'engine', 'memory', 'nats', 'sdk', 'shared'],
  ]),
  'globals.ts': { holds: 'names that the types of packages use', imports: [] },
  'version.ts': { holds: 'the version of the package', imports: [] },
};

function entry(name: string, imports: readonly string[]): Layer {
  return { holds: `the entry point ${name}`, imports: [...imports, 'globals.ts'] };
}

/** Packages that one folder imports, and no other. */
const EXCLUSIVE: readonly (readonly [name: string, folder: string])[] = [
  ['nats', 'nats'],
  ['@modelcontextprotocol/server', 'agents'],
  ['preact', 'page'],
  ['@preact/signals', 'page'],
  ['hono', 'services'],
];

const CONFIG_READER = 'config/config.ts';

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
    const area = areaOf(module.path);
    const layer = LAYERS[area];
    if (layer === undefined) return [`${module.path}: lies in a folder without a rule`];
    const forbidden = module.imports.filter((target) => !mayImport(area, layer, target));
    const impure = isPure(area) ? IMPURE.filter((pattern) => pattern.test(module.source)) : [];
    const environment = module.path !== CONFIG_READER && /\bprocess\s*\.\s*env\b/.test(module.source);
    return [
      ...forbidden.map((target) => `${module.path}: imports ${target}`),
      ...impure.map((pattern) => `${module.path}: holds ${pattern.source}`),
      ...(environment ? [`${module.path}: reads process.env`] : []),
    ];
  });
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
    imports.filter((target) => isSource(target) && !paths.has(target)).map((target) => `${path}: ${target}`),
  );
}

/** Source files with the name of another one, as `name: their paths`. */
export function sameNames(modules: readonly Module[]): string[] {
  return repeated(modules.map(({ path }) => [path.slice(path.lastIndexOf('/') + 1), path]));
}

/** Exported types and classes with one name in two files, as `name: the files`. */
export function sameTypes(modules: readonly Module[]): string[] {
  return repeated(
    modules.flatMap(({ path, source }) =>
      [...source.matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm)].map(
        ([, name = '']) => [name, path] as const,
      ),
    ),
  );
}

function repeated(named: readonly (readonly [name: string, path: string])[]): string[] {
  const places = new Map<string, string[]>();
  for (const [name, path] of named) places.set(name, [...(places.get(name) ?? []), path]);
  return [...places].flatMap(([name, paths]) => (paths.length > 1 ? [`${name}: ${paths.join(', ')}`] : []));
}

function mayImport(area: string, layer: Layer, target: string): boolean {
  const own = areaOf(target);
  if (isSource(target) || own === area)
    return own === area || layer.imports.some((name) => own === name || isGroup(name, own));
  if (EXCLUSIVE.some(([name, only]) => isPackage(target, name) && area !== only)) return false;
  return layer.packages?.some((name) => isPackage(target, name)) ?? true;
}

function isPure(area: string): boolean {
  return PURE.some((folder) => isWithin(area, folder));
}

/** The entry that a file belongs to, or its first folder if it has none. */
function areaOf(path: string): string {
  const parts = path.split('/');
  const two = parts.slice(0, 2).join('/');
  return Object.hasOwn(LAYERS, two) ? two : (parts[0] ?? path);
}

/** True for a folder that has no entry of its own and contains this one. */
function isGroup(folder: string, area: string): boolean {
  return !Object.hasOwn(LAYERS, folder) && isWithin(area, folder);
}

function isWithin(area: string, folder: string): boolean {
  return area === folder || area.startsWith(`${folder}/`);
}

function isPackage(target: string, name: string): boolean {
  return target === name || (target.startsWith(`${name}/`) && !isSource(target));
}
