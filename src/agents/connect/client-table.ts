import { join } from 'node:path';
import { isObject } from '../../shared/is-object.js';
import { HOOK_CLIENTS, type HookClientName, type HookEvent } from '../hooks/hook-table.js';
import type { JsonEntries } from './json-entries.js';
import { OPENCODE_PLUGIN } from './opencode-plugin.js';
import type { TomlBlock } from './toml-block.js';

/**
 * Where each client keeps its configuration, and what of us stands there. One client more is one entry here, and one in
 * `HOOK_CLIENTS`, which says for which events a hook is run.
 */
interface ConnectClient {
  /** For people. */
  readonly title: string;
  /** The command that starts it. */
  readonly program: string;
  /** The files of a project, or of the user, that we write into. */
  readonly files: (where: Where) => readonly ConfigFile[];
  /** What is left to the user after connecting, in order; by scope. */
  readonly confirm: (scope: Scope) => readonly string[];
  /** Why a connected client does not use what is written, with the fix; where its files say so. */
  readonly problem?: (where: Where, read: (path: string) => string | undefined) => string | undefined;
}

export type ConnectClientName = HookClientName;

export type Scope = 'project' | 'user';

export interface Where {
  readonly scope: Scope;
  /** Absolute path of the project. */
  readonly project: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a file is there: some clients take one of two names. */
  readonly exists: (path: string) => boolean;
}

/** A file that we write into, or that is ours alone. */
export type ConfigFile =
  /** `empty`: a new file before our entries. */
  | { readonly kind: 'json'; readonly path: string; readonly entries: JsonEntries; readonly empty: object }
  | { readonly kind: 'toml'; readonly path: string; readonly block: TomlBlock }
  | { readonly kind: 'own'; readonly path: string; readonly text: string };

/** Seconds after which a client ends a hook that hangs. A hook ends itself in less than one. */
const TIMEOUT_SECONDS = 10;

export const CONNECT_CLIENTS: Readonly<Record<ConnectClientName, ConnectClient>> = {
  claude: {
    title: 'Claude Code',
    program: 'claude',
    files: ({ scope, project, home, env }) => {
      const user = env.CLAUDE_CONFIG_DIR;
      const settings =
        scope === 'project'
          ? join(project, '.claude', 'settings.json')
          : join(user ?? join(home, '.claude'), 'settings.json');
      const servers = scope === 'project' ? join(project, '.mcp.json') : join(user ?? home, '.claude.json');
      return [
        { kind: 'json', path: settings, entries: { fields: [], lists: claudeHooks() }, empty: {} },
        { kind: 'json', path: servers, entries: { fields: [mcpServer()] }, empty: {} },
      ];
    },
    confirm: (scope) =>
      scope === 'user'
        ? []
        : [
            'start `claude` in this folder: it asks whether you trust the folder, and whether to use the MCP server `throughline` of .mcp.json',
          ],
  },
  codex: {
    title: 'Codex CLI',
    program: 'codex',
    files: ({ scope, project, home, env }) => {
      const path = codexConfig({ scope, project, home, env });
      return [{ kind: 'toml', path, block: CODEX_BLOCK }];
    },
    confirm: (scope) => [
      ...(scope === 'project'
        ? ['start `codex` in this folder and trust it: else Codex does not read .codex/config.toml']
        : []),
      'type `/hooks` in Codex and trust the hooks of throughline: until then it skips them without a word',
    ],
    problem: codexTrust,
  },
  gemini: {
    title: 'Gemini CLI',
    program: 'gemini',
    files: ({ scope, project, home, env }) => {
      const root = scope === 'project' ? project : (env.GEMINI_CLI_HOME ?? home);
      const entries: JsonEntries = {
        fields: [mcpServer({ trust: true })],
        lists: { under: 'hooks', items: geminiItems(), isOurs: isOurGroup('gemini'), inner: 'hooks' },
      };
      return [{ kind: 'json', path: join(root, '.gemini', 'settings.json'), entries, empty: {} }];
    },
    confirm: (scope) =>
      scope === 'user'
        ? []
        : ['start `gemini` in this folder and trust it: else Gemini does not read .gemini/settings.json'],
  },
  cursor: {
    title: 'Cursor',
    program: 'cursor',
    files: ({ scope, project, home }) => {
      const folder = join(scope === 'project' ? project : home, '.cursor');
      const hooks: JsonEntries = {
        fields: [],
        lists: { under: 'hooks', items: cursorItems(), isOurs: isOurHook('cursor') },
      };
      return [
        { kind: 'json', path: join(folder, 'hooks.json'), entries: hooks, empty: { version: 1 } },
        { kind: 'json', path: join(folder, 'mcp.json'), entries: { fields: [mcpServer()] }, empty: {} },
      ];
    },
    confirm: () => ['restart Cursor, and switch the MCP server `throughline` on in its settings'],
  },
  opencode: {
    title: 'opencode',
    program: 'opencode',
    files: ({ scope, project, home, env, exists }) => {
      const folder =
        scope === 'project'
          ? project
          : (env.OPENCODE_CONFIG_DIR ?? join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'opencode'));
      const plugins = scope === 'project' ? join(project, '.opencode', 'plugin') : join(folder, 'plugin');
      const named = ['opencode.jsonc', 'opencode.json'].map((name) => join(folder, name));
      const path = named.find(exists) ?? join(folder, 'opencode.json');
      const server = {
        path: ['mcp', 'throughline'],
        value: { type: 'local', command: ['throughline', 'mcp'], enabled: true },
        isOurs: (value: unknown) =>
          isObject(value) && Array.isArray(value.command) && value.command[0] === 'throughline',
      };
      return [
        {
          kind: 'json',
          path,
          entries: { fields: [server] },
          empty: { $schema: 'https://opencode.ai/config.json' },
        },
        { kind: 'own', path: join(plugins, 'throughline.js'), text: OPENCODE_PLUGIN },
      ];
    },
    confirm: () => [],
  },
};

export const CONNECT_NAMES = Object.keys(CONNECT_CLIENTS) as ConnectClientName[];

function hookCommand(client: ConnectClientName): string {
  return `throughline hook ${client}`;
}

/** The MCP server, as Claude Code, Gemini and Cursor name it. */
export function mcpServer(more: object = {}) {
  return {
    path: ['mcpServers', 'throughline'] as const,
    value: { command: 'throughline', args: ['mcp'], ...more },
    isOurs: (value: unknown) => isObject(value) && value.command === 'throughline',
  };
}

/** The hooks of Claude Code: in the settings, and in a plugin. */
export function claudeHooks() {
  return {
    under: 'hooks',
    items: itemsOf('claude', ({ matcher }) => ({
      ...(matcher !== undefined && { matcher }),
      hooks: [{ type: 'command', command: hookCommand('claude'), timeout: TIMEOUT_SECONDS }],
    })),
    isOurs: isOurGroup('claude'),
    inner: 'hooks',
  };
}

function geminiItems() {
  return itemsOf('gemini', ({ matcher }) => ({
    ...(matcher !== undefined && { matcher }),
    hooks: [
      {
        type: 'command',
        name: 'throughline',
        command: hookCommand('gemini'),
        timeout: TIMEOUT_SECONDS * 1000,
      },
    ],
  }));
}

function cursorItems() {
  return itemsOf('cursor', ({ matcher }) => ({
    command: hookCommand('cursor'),
    timeout: TIMEOUT_SECONDS,
    ...(matcher !== undefined && { matcher }),
  }));
}

function itemsOf(client: ConnectClientName, item: (event: HookEvent) => object) {
  return Object.fromEntries(HOOK_CLIENTS[client].events.map((event) => [event.name, item(event)]));
}

/** A hook runs our command, by whatever path. */
function isOurHook(client: ConnectClientName) {
  return (hook: unknown) =>
    isObject(hook) &&
    typeof hook.command === 'string' &&
    /\bthroughline["']? hook (\w+)/.exec(hook.command)?.[1] === client;
}

/** A group of hooks is ours where all of its hooks are; else those of ours in it. */
function isOurGroup(client: ConnectClientName) {
  const isOurs = isOurHook(client);
  return (group: unknown) =>
    isOurs(group) ||
    (isObject(group) && Array.isArray(group.hooks) && group.hooks.length > 0 && group.hooks.every(isOurs));
}

/** What the MCP server is told by its environment, of which Codex passes on only what is named. */
const SERVER_VARIABLES = [
  ...['NATS_URL', 'NATS_USER', 'NATS_PASSWORD', 'NATS_TOKEN', 'NATS_NKEY', 'NATS_CREDS'],
  ...['NATS_CA', 'NATS_CERT', 'NATS_KEY', 'THROUGHLINE_SESSION', 'THROUGHLINE_PROJECT'],
];

const CODEX_BLOCK: TomlBlock = {
  // A server that is still starting misses the first request. Hooks that Codex has not been told to trust do nothing.
  tables: [
    '[mcp_servers.throughline]',
    'command = "throughline"',
    'args = ["mcp"]',
    `env_vars = ${JSON.stringify(SERVER_VARIABLES)}`,
    ...HOOK_CLIENTS.codex.events.flatMap((event: HookEvent) => [
      '',
      `[[hooks.${event.name}]]`,
      ...(event.matcher === undefined ? [] : [`matcher = "${event.matcher}"`]),
      `[[hooks.${event.name}.hooks]]`,
      'type = "command"',
      `command = "${hookCommand('codex')}"`,
      // Codex gives the end of a session three seconds at most.
      `timeout = ${event.name === 'SessionEnd' ? 3 : TIMEOUT_SECONDS}`,
    ]),
  ].join('\n'),
  isOurs: (header) => /^\[(mcp_servers\.throughline\b|\[hooks\.\w+(\.hooks)?\]\])/.test(header),
};

function codexConfig({ scope, project, home, env }: Omit<Where, 'exists'>): string {
  const folder = scope === 'project' ? join(project, '.codex') : (env.CODEX_HOME ?? join(home, '.codex'));
  return join(folder, 'config.toml');
}

/** Codex keeps which hooks are trusted in the configuration of the user, by the file that they stand in. */
function codexTrust(where: Where, read: (path: string) => string | undefined): string | undefined {
  const text = read(codexConfig({ ...where, scope: 'user' })) ?? '';
  const key = `[hooks.state.${JSON.stringify(`${codexConfig(where)}:stop`)}`.slice(0, -1);
  return text.includes(key)
    ? undefined
    : 'Codex does not trust the hooks yet: type `/hooks` in Codex and trust them';
}
