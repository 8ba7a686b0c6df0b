import type { Command } from './cli-command.js';

export const SHOWN_GROUPS = ['Start', 'Agents', 'Look', 'Keep'] as const;
/** Commands below `admin` and `dev`, which `help --all` lists, and those that only programs call. */
const OTHER_GROUPS = ['admin', 'dev', 'hidden'] as const;

type Group = (typeof SHOWN_GROUPS | typeof OTHER_GROUPS)[number];

interface Row {
  readonly summary: string;
  /** Loads its module, when it is chosen. */
  readonly load: () => Promise<(parent: Command) => void>;
}

export interface CommandEntry extends Row {
  /** Its words: `status`, or `admin serve`. */
  readonly name: string;
  readonly group: Group;
  /** Its arguments: `[options] <role>`. */
  readonly takes: string;
}

export const GROUP_COMMANDS = {
  admin: {
    about: 'Commands for those who run an installation.',
    example: 'throughline admin backup /backups/$(date +%F)',
  },
  dev: {
    about: 'Commands for those who build on Throughline.',
    example: 'throughline dev schema print result.implementer',
  },
} as const;

/** The commands of each group, by their words and arguments, as the overview shows them. */
const TABLE: Readonly<Record<Group, Readonly<Record<string, Row>>>> = {
  Start: {
    'demo [options]': {
      summary: 'show in ten seconds what a memory changes',
      load: async () => (await import('./demo-command.js')).demoCommand,
    },
    'up [options]': {
      summary: 'start all services, and a NATS server unless one is given',
      load: async () => (await import('./up-command.js')).upCommand,
    },
    'down [options]': {
      summary: 'stop what `up` has started',
      load: async () => (await import('./up-command.js')).downCommand,
    },
    'connect [options] [client]': {
      summary: 'connect a coding agent by hooks and MCP, or disconnect it',
      load: async () => (await import('./connect-command.js')).connectCommand,
    },
    'pause [folder]': {
      summary: 'keep nothing of the conversations in a folder, until `resume`',
      load: async () => (await import('./connect-command.js')).pauseCommand,
    },
    'resume [folder]': {
      summary: 'keep them again',
      load: async () => (await import('./connect-command.js')).resumeCommand,
    },
    'uninstall [options]': {
      summary: 'take everything out: connections, server, memory',
      load: async () => (await import('./uninstall-command.js')).uninstallCommand,
    },
    'doctor [options]': {
      summary: 'check the whole installation and say what to fix',
      load: async () => (await import('./doctor-command.js')).doctorCommand,
    },
    team: {
      summary: 'use the server of a team or a container: join, leave',
      load: async () => (await import('./team-command.js')).teamCommand,
    },
    'open [options]': {
      summary: 'open the inspector in a browser',
      load: async () => (await import('./open-command.js')).openCommand,
    },
  },
  Agents: {
    'publish [options] <role>': {
      summary: 'publish what an agent returned, or the trace of its actions',
      load: async () => (await import('./publish-command.js')).publishCommand,
    },
    'prompt [options]': {
      summary: 'print the next prompt of a session; list and show earlier ones',
      load: async () => (await import('./prompt-command.js')).promptCommand,
    },
    'work [options]': {
      summary: 'run a plan with agents: work, check, review, until it is done',
      load: async () => (await import('./work-command.js')).workCommand,
    },
    'mcp [options]': {
      summary: 'serve the memory of a session to coding agents, by MCP',
      load: async () => (await import('./mcp-command.js')).mcpCommand,
    },
  },
  Look: {
    'status [options] [session]': {
      summary: 'show the installation, or how far a session and its tasks are',
      load: async () => (await import('./status-command.js')).statusCommand,
    },
    'log [options] [session]': {
      summary: 'list what happened; -f follows it, --trace shows the actions of agents',
      load: async () => (await import('./log-command.js')).logCommand,
    },
    'recall [options] <query>': {
      summary: 'search what sessions remember, by words and by meaning',
      load: async () => (await import('./facts-command.js')).recallCommand,
    },
    'facts [options] [session]': {
      summary: 'list what a session knows',
      load: async () => (await import('./facts-command.js')).factsCommand,
    },
  },
  Keep: {
    task: {
      summary: 'the tasks of a session: add, list, take, finish, change',
      load: async () => (await import('./board-commands.js')).taskCommand,
    },
    note: {
      summary: 'notes for later agents',
      load: async () => (await import('./board-commands.js')).noteCommand,
    },
    inbox: {
      summary: 'messages for the next agent',
      load: async () => (await import('./board-commands.js')).inboxCommand,
    },
    'answer [options] <task> <answer>': {
      summary: 'answer the open question of a task',
      load: async () => (await import('./board-commands.js')).answerCommand,
    },
    plan: {
      summary: 'follow a tasks.md, and show how far it is',
      load: async () => (await import('./plan-command.js')).planCommand,
    },
    session: {
      summary: 'list, show, complete, archive, export, import and remove sessions',
      load: async () => (await import('./session-commands.js')).sessionCommand,
    },
    learning: {
      summary: 'what a project has learned, and what waits for your decision',
      load: async () => (await import('./learning-commands.js')).learningCommand,
    },
    result: {
      summary: 'correct and retry rejected results; import git history as results',
      load: async () => (await import('./result-commands.js')).resultCommand,
    },
  },
  admin: {
    'admin serve [options]': {
      summary: 'start services on a running NATS server',
      load: async () => (await import('./serve-command.js')).serveCommand,
    },
    'admin health [options]': {
      summary: 'print the health of the running services in one line',
      load: async () => (await import('./doctor-command.js')).healthCommand,
    },
    'admin backup [options] <directory>': {
      summary: 'copy the whole installation into a directory, while it runs',
      load: async () => (await import('./backup-command.js')).backupCommand,
    },
    'admin restore [options] <directory>': {
      summary: 'make an installation from a backup, on a server that has none',
      load: async () => (await import('./backup-command.js')).restoreCommand,
    },
    'admin retention': {
      summary: 'set how long sessions without activity are kept',
      load: async () => (await import('./retention-command.js')).retentionCommand,
    },
    'admin permissions [options]': {
      summary: 'print the minimal NATS permissions of a role',
      load: async () => (await import('./permissions-command.js')).permissionsCommand,
    },
    'admin nats-server [options]': {
      summary: 'print the NATS server that `up` would start; installs the pinned one if none is found',
      load: async () => (await import('./own-server.js')).natsServerCommand,
    },
  },
  dev: {
    'dev schema': {
      summary: 'print the JSON Schemas of results, requests, replies and events',
      load: async () => (await import('./dev-commands.js')).schemaCommand,
    },
    'dev completion [options] [shell]': {
      summary: 'print a script that completes commands in your shell',
      load: async () => (await import('./dev-commands.js')).completionCommand,
    },
  },
  hidden: {
    'hook [options] <client>': {
      summary: 'answer an event of a coding agent',
      load: async () => (await import('./hook-command.js')).hookCommand,
    },
    tool: {
      summary: 'send one request of the service session-tools, as prompts tell agents to',
      load: async () => (await import('./request-command.js')).toolCommand,
    },
  },
};

/** All commands. The commands below `task`, `session` and so on are rows of the module that is named here. */
export const COMMANDS: readonly CommandEntry[] = Object.entries(TABLE).flatMap(([group, rows]) =>
  Object.entries(rows).map(([usage, row]) => {
    const [name = ''] = usage.split(/ (?=[[<])/, 1);
    return { name, group: group as Group, takes: usage.slice(name.length + 1), ...row };
  }),
);

/** The command that the words lead to, and the words behind it. */
export function commandAt(program: Command, words: readonly string[]) {
  let command = program;
  for (const [index, word] of words.entries()) {
    const inner = command.commands.find((child) => child.name() === word || child.aliases().includes(word));
    if (inner === undefined) return { command, rest: words.slice(index) };
    command = inner;
  }
  return { command, rest: [] };
}
