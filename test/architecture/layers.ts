import { isSource, type Module } from './modules.js';

/**
 * Who may import what: the source layout as rules. Each folder of src is one entry; a file that lies in no folder goes by
 * its own name. docs/reference/source-layout.md is written from this table.
 */
export interface Layer {
  /** What the folder holds, for people. */
  readonly holds: string;
  /** Other folders that it may import. */
  readonly imports: readonly string[];
  /** Packages and built-in modules that it may import; left out: any that no other folder has for itself. */
  readonly packages?: readonly string[];
}

/** Values in, values out: no ports, no adapters, no I/O, no clock, no chance. */
export const PURE = [
  'facts',
  'learnings',
  'ledger',
  'prompt',
  'redaction',
  'search',
  'session',
  'shared',
  'traces',
] as const;

const PURE_PACKAGES = ['zod', 'node:crypto', 'node:util'];
const DOMAIN = [
  'contracts',
  'facts',
  'learnings',
  'ledger',
  'prompt',
  'search',
  'session',
  'shared',
  'traces',
];
const SERVER_SIDE = [...DOMAIN, 'embedding', 'folding', 'ports', 'redaction', 'runtime', 'tokenizers'];

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
  search: {
    holds: 'tokens of a text, past results and the files that a task will likely touch',
    imports: ['shared'],
    packages: ['stemmer'],
  },
  facts: {
    holds: 'facts of a session: extraction by rule, store, retrieval',
    imports: ['contracts', 'search', 'shared'],
    packages: PURE_PACKAGES,
  },
  ledger: {
    holds: 'what tasks have come to: plans in Markdown, progress, signs that a task is stalled',
    imports: ['contracts', 'shared'],
    packages: PURE_PACKAGES,
  },
  traces: {
    holds: 'traces of intents, their summary, the hook before model calls',
    imports: ['contracts', 'shared'],
    packages: PURE_PACKAGES,
  },
  session: {
    holds: 'a session: its state, the fold of its events, its commands, its snapshot',
    imports: ['contracts', 'facts', 'ledger', 'search', 'shared', 'traces'],
    packages: [...PURE_PACKAGES, 'node:zlib'],
  },
  learnings: {
    holds: 'learnings and proposals of a project: fold, commands, harvest by rule, ranking',
    imports: ['contracts', 'facts', 'search', 'session', 'shared'],
    packages: [...PURE_PACKAGES, 'node:zlib'],
  },
  prompt: {
    holds: 'prompts of each kind, their budget, their sections',
    imports: ['contracts', 'facts', 'learnings', 'ledger', 'search', 'session', 'shared', 'traces'],
    packages: PURE_PACKAGES,
  },
  redaction: {
    holds: 'secrets taken out of text and JSON',
    imports: [],
    packages: ['@secretlint/secretlint-rule-preset-recommend'],
  },
  ports: {
    holds: 'what the product needs of the world, as contracts in words',
    imports: ['contracts'],
    packages: [],
  },
  runtime: {
    holds: 'waits, limits and shutdown of a process',
    imports: ['contracts', 'ports', 'shared'],
  },
  folding: {
    holds: 'the event-sourcing engine: load a state, write its snapshot, carry out a command, catch up',
    imports: [...DOMAIN, 'ports', 'runtime'],
  },
  embedding: {
    holds: 'vectors of texts, and what finds learnings by them',
    imports: ['contracts', 'learnings', 'ports', 'runtime', 'shared'],
  },
  tokenizers: { holds: 'tokenizers by name', imports: ['contracts', 'shared'] },
  files: {
    holds: 'files on this machine: task files, and the state directory of the user',
    imports: ['contracts', 'ports', 'shared'],
  },
  monitoring: {
    holds: 'spans by OpenTelemetry, metrics in the format of Prometheus, and the pages that show them',
    imports: ['contracts', 'ports', 'shared', 'version.ts'],
  },
  nats: {
    holds: 'the ports on NATS: connection, JetStream, stores, micro services, doctor',
    imports: ['contracts', 'monitoring', 'nats-server', 'ports', 'runtime', 'shared'],
  },
  'nats-server': { holds: 'finds, installs and runs nats-server', imports: ['contracts', 'files', 'shared'] },
  config: {
    holds: 'the settings: the only reader of the environment',
    imports: [
      'contracts',
      'embedding',
      'files',
      'ledger',
      'nats',
      'nats-server',
      'shared',
      'tokenizers',
      'traces',
    ],
  },
  services: {
    holds: 'extractor, compiler, tools, learnings and keeper: handlers and their wiring, one folder each',
    imports: [...SERVER_SIDE, 'config', 'files', 'monitoring', 'nats', 'version.ts'],
  },
  schemas: {
    holds: 'the JSON Schemas of what travels and of what is stored',
    imports: ['contracts', 'session', 'shared'],
    packages: ['zod'],
  },
  client: {
    holds: 'the SDK',
    imports: ['contracts', 'monitoring', 'ports', 'shared', 'traces'],
  },
  page: {
    holds: 'what the inspector shows in the browser; of `contracts` it takes only types',
    imports: ['contracts', 'shared'],
    packages: ['preact', '@preact/signals', 'uplot', 'diff'],
  },
  work: {
    holds: 'runs of a plan with agents: the steps of a task, agents that are commands, git worktrees',
    imports: [
      'client',
      'contracts',
      'files',
      'ledger',
      'nats-server',
      'ports',
      'prompt',
      'redaction',
      'shared',
    ],
  },
  agents: {
    holds:
      'how coding agents plug in: `hooks`, `mcp`, and `connect`, which edits the configuration of each client',
    imports: [
      'client',
      'config',
      'contracts',
      'files',
      'prompt',
      'redaction',
      'search',
      'session',
      'shared',
      'traces',
      'version.ts',
    ],
  },
  cli: {
    holds: 'the command line',
    imports: [
      ...SERVER_SIDE,
      ...[
        'agents',
        'client',
        'config',
        'files',
        'monitoring',
        'nats',
        'nats-server',
        'schemas',
        'services',
        'version.ts',
        'work',
      ],
    ],
  },
  entries: {
    holds:
      'what `throughline/facts`, `/traces`, `/schemas`, `/server` and `/work` give: entry points of the package; `server` also starts services in a process',
    imports: [
      ...[
        'cli',
        'config',
        'contracts',
        'facts',
        'globals.ts',
        'learnings',
        'monitoring',
        'nats-server',
        'ports',
      ],
      ...['runtime', 'services', 'shared', 'traces', 'client', 'nats', 'redaction', 'work'],
    ],
  },
  'globals.ts': { holds: 'names that the types of packages use', imports: [] },
  'index.ts': {
    holds: 'what `import "throughline"` gives',
    imports: [
      'client',
      'config',
      'contracts',
      'globals.ts',
      'learnings',
      'monitoring',
      'nats',
      'ports',
      'session',
      'shared',
      'traces',
    ],
  },
  'version.ts': { holds: 'the version of the package', imports: [] },
};

/** Packages that one folder imports, and no other. */
const EXCLUSIVE: readonly (readonly [name: string, folder: string])[] = [
  ['nats', 'nats'],
  ['@opentelemetry/api', 'monitoring'],
  ['@opentelemetry/sdk-node', 'monitoring'],
  ['@secretlint/secretlint-rule-preset-recommend', 'redaction'],
  ['@modelcontextprotocol/server', 'agents'],
  ['preact', 'page'],
  ['@preact/signals', 'page'],
  ['uplot', 'page'],
  ['hono', 'services'],
  ['@hono/node-server', 'services'],
];

/** The one file that reads the environment. */
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

/** The names that stand at more than one place. */
function repeated(named: readonly (readonly [name: string, path: string])[]): string[] {
  const places = new Map<string, string[]>();
  for (const [name, path] of named) places.set(name, [...(places.get(name) ?? []), path]);
  return [...places].flatMap(([name, paths]) => (paths.length > 1 ? [`${name}: ${paths.join(', ')}`] : []));
}

function mayImport(area: string, layer: Layer, target: string): boolean {
  const own = areaOf(target);
  if (isSource(target) || own === area) return own === area || layer.imports.includes(own);
  if (EXCLUSIVE.some(([name, only]) => isPackage(target, name) && area !== only)) return false;
  return layer.packages?.some((name) => isPackage(target, name)) ?? true;
}

function isPure(area: string): boolean {
  return PURE.some((folder) => folder === area);
}

/** The folder of src that a file lies in, or its own name where it lies in none. */
function areaOf(path: string): string {
  return path.split('/')[0] ?? path;
}

function isPackage(target: string, name: string): boolean {
  return target === name || (target.startsWith(`${name}/`) && !isSource(target));
}
