import type { Command } from './cli-command.js';

export const SHOWN_GROUPS = ['Start', 'Agents', 'Look', 'Keep'] as const;
/** Commands below `admin`, which `help --all` lists, and those that only programs call. */
const OTHER_GROUPS = ['admin', 'hidden'] as const;

type Group = (typeof SHOWN_GROUPS | typeof OTHER_GROUPS)[number];

/** The summary of a command, and what loads its module when the command is chosen. */
type Row = readonly [summary: string, load: () => Promise<object>];

export interface CommandEntry {
  /** Its words: `status`, or `admin serve`. */
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<(parent: Command) => void>;
  readonly group: Group;
  /** Its arguments: `[options] <role>`. */
  readonly takes: string;
}

export const GROUP_COMMANDS = {
  admin: {
    about: 'Commands for those who run an installation.',
    example: 'throughline admin backup /backups/$(date +%F)',
  },
} as const;

const backup = () => import('./backup-command.js');
const board = () => import('./board-commands.js');
const completion = () => import('./completion-command.js');
const connect = () => import('./connect-command.js');
const demo = () => import('./demo-command.js');
const doctor = () => import('./doctor-command.js');
const facts = () => import('./facts-command.js');
const hook = () => import('./hook-command.js');
const learning = () => import('./learning-commands.js');
const log = () => import('./log-command.js');
const mcp = () => import('./mcp-command.js');
const open = () => import('./open-command.js');
const ownServer = () => import('./own-server.js');
const permissions = () => import('./permissions-command.js');
const plan = () => import('./plan-command.js');
const prompt = () => import('./prompt-command.js');
const publish = () => import('./publish-command.js');
const request = () => import('./request-command.js');
const result = () => import('./result-commands.js');
const serve = () => import('./serve-command.js');
const session = () => import('./session-commands.js');
const status = () => import('./status-command.js');
const team = () => import('./team-command.js');
const up = () => import('./up-command.js');
const work = () => import('./work-command.js');

/** The commands of each group, by their words and arguments, as the overview shows them. */
const TABLE: Readonly<Record<Group, Readonly<Record<string, Row>>>> = {
  Start: {
    'demo [options]': ['show in ten seconds what a memory changes', demo],
    'up [options]': ['start all services, and a NATS server unless one is given', up],
    'down [options]': ['stop what `up` has started', up],
    'connect [options] [client]': ['connect a coding agent by hooks and MCP, or disconnect it', connect],
    'pause [folder]': ['keep nothing of the conversations in a folder, until `resume`', connect],
    'resume [folder]': ['keep them again', connect],
    'uninstall [options]': ['take everything out: connections, server, memory', connect],
    'doctor [options]': ['check the whole installation and say what to fix', doctor],
    team: ['use the server of a team or a container: join, leave', team],
    'open [options]': ['open the inspector in a browser', open],
  },
  Agents: {
    'publish [options] <role>': ['publish what an agent returned, or the trace of its actions', publish],
    'prompt [options]': ['print the next prompt of a session; list and show earlier ones', prompt],
    'work [options]': ['run a plan with agents: work, check, review, until it is done', work],
    'mcp [options]': ['serve the memory of a session to coding agents, by MCP', mcp],
  },
  Look: {
    'status [options] [session]': ['show the installation, or how far a session and its tasks are', status],
    'log [options] [session]': [
      'list what happened; -f follows it, --trace shows the actions of agents',
      log,
    ],
    'last [options] [session]': ['show what an agent was given last, line by line with reasons', prompt],
    'recall [options] <query>': ['search what sessions remember, by words and by meaning', facts],
    'facts [options] [session]': ['list what a session knows', facts],
  },
  Keep: {
    task: ['the tasks of a session: add, list, finish, change, move', board],
    note: ['notes for later agents', board],
    inbox: ['messages for the next agent', board],
    'answer [options] <task> <answer>': ['answer the open question of a task', board],
    'restore [options] <id>': ['bring back a fact, a note or a task, whatever ended it', board],
    plan: ['follow a tasks.md, which `status --plan` shows', plan],
    session: ['list, complete, archive, export, import and remove sessions', session],
    learning: ['what a project has learned, and what waits for your decision', learning],
    result: ['correct and retry rejected results; import git history as results', result],
  },
  admin: {
    'admin serve [options]': ['start services on a running NATS server', serve],
    'admin health [options]': ['print the health of the running services in one line', doctor],
    'admin backup [options] <directory>': [
      'copy the whole installation into a directory, while it runs',
      backup,
    ],
    'admin restore [options] <directory>': [
      'make an installation from a backup, on a server that has none',
      backup,
    ],
    'admin retention': ['set how long sessions without activity are kept', session],
    'admin permissions [options]': ['print the minimal NATS permissions of a role', permissions],
    'admin nats-server [options]': [
      'print the NATS server that `up` would start; installs the pinned one if none is found',
      ownServer,
    ],
    'admin completion [options] [shell]': [
      'print a script that completes commands in your shell',
      completion,
    ],
  },
  hidden: {
    'hook [options] <client>': ['answer an event of a coding agent', hook],
    tool: ['send one request of the service session-tools, as prompts tell agents to', request],
  },
};

/** All commands. The commands below `task`, `session` and so on are rows of the module that is named here. */
export const COMMANDS: readonly CommandEntry[] = Object.entries(TABLE).flatMap(([group, rows]) =>
  Object.entries(rows).map(([usage, [summary, module]]) => {
    const [name = ''] = usage.split(/ (?=[[<])/, 1);
    // Its module exports what adds it, as `natsServerCommand` for `admin nats-server`.
    const last = name.slice(name.lastIndexOf(' ') + 1);
    const word = last.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const load = async () => Reflect.get(await module(), `${word}Command`);
    return { name, group: group as Group, takes: usage.slice(name.length + 1), summary, load };
  }),
);

export function commandAt(program: Command, words: readonly string[]) {
  let command = program;
  for (const [index, word] of words.entries()) {
    const inner = command.commands.find((child) => child.name() === word || child.aliases().includes(word));
    if (inner === undefined) return { command, rest: words.slice(index) };
    command = inner;
  }
  return { command, rest: [] };
}
