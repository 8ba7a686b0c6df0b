import type { Command } from 'commander';

/** A command of the program: what the overview shows, and the module that is loaded when it is chosen. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** What it takes, as the overview shows it: `[options] <role>`. */
  readonly takes?: string;
  readonly load: () => Promise<(program: Command) => void>;
}

/** All commands, in the order of the overview. One more is a module, and an entry here. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'up',
    takes: '[options]',
    summary: 'start everything: a NATS server, if none is given, and all services',
    load: async () => (await import('./up-command.js')).upCommand,
  },
  {
    name: 'serve',
    takes: '[options]',
    summary: 'start services on a NATS server that runs already',
    load: async () => (await import('./serve-command.js')).serveCommand,
  },
  {
    name: 'publish',
    takes: '[options] <role>',
    summary: 'publish what an implementer or reviewer returned',
    load: async () => (await import('./publish-command.js')).publishCommand,
  },
  {
    name: 'compile',
    takes: '[options]',
    summary: 'print the next prompt of a session',
    load: async () => (await import('./compile-command.js')).compileCommand,
  },
  {
    name: 'tool',
    summary: 'tasks, notes, inbox and iterations of a session',
    load: async () => (await import('./tool-command.js')).toolCommand,
  },
  {
    name: 'session',
    summary: 'list sessions, show, open, complete or restart one',
    load: async () => (await import('./session-commands.js')).sessionCommand,
  },
  {
    name: 'tasks',
    takes: '[options] [session]',
    summary: 'list the tasks of a session',
    load: async () => (await import('./session-commands.js')).tasksCommand,
  },
  {
    name: 'history',
    takes: '[options] [session]',
    summary: 'list the iterations of a session',
    load: async () => (await import('./session-commands.js')).historyCommand,
  },
  {
    name: 'facts',
    takes: '[options] [session]',
    summary: 'list what a session knows',
    load: async () => (await import('./facts-command.js')).factsCommand,
  },
  {
    name: 'proposals',
    summary: 'what waits to become a learning: look, accept, reject',
    load: async () => (await import('./proposals-command.js')).proposalsCommand,
  },
  {
    name: 'learnings',
    summary: 'what a project has learned across its sessions',
    load: async () => (await import('./learnings-command.js')).learningsCommand,
  },
  {
    name: 'snapshot',
    summary: 'show or write the snapshot of a session',
    load: async () => (await import('./snapshot-command.js')).snapshotCommand,
  },
  {
    name: 'rejected',
    summary: 'look at, and retry, results that could not be used',
    load: async () => (await import('./rejected-command.js')).rejectedCommand,
  },
  {
    name: 'foreign',
    summary: 'list, and remove, messages that were stored as the answer to a request',
    load: async () => (await import('./foreign-command.js')).foreignCommand,
  },
  {
    name: 'import',
    summary: 'start a session with knowledge',
    load: async () => (await import('./import-command.js')).importCommand,
  },
  {
    name: 'template',
    summary: 'print the iteration template, or check one of your own',
    load: async () => (await import('./template-command.js')).templateCommand,
  },
  {
    name: 'init',
    takes: '[options]',
    summary: 'make a tasks.md the progress of a session',
    load: async () => (await import('./run-commands.js')).initCommand,
  },
  {
    name: 'status',
    takes: '[options] [session]',
    summary: 'progress of a run, and what each task needs next',
    load: async () => (await import('./run-commands.js')).statusCommand,
  },
  {
    name: 'ledger',
    takes: '[options] [session]',
    summary: 'what the ledgers know of a task',
    load: async () => (await import('./run-commands.js')).ledgerCommand,
  },
  {
    name: 'telemetry',
    takes: '[options] [session]',
    summary: 'what was compiled for a session, and how',
    load: async () => (await import('./telemetry-command.js')).telemetryCommand,
  },
  {
    name: 'trace',
    summary: 'what an agent did for an intent, and its compacted history',
    load: async () => (await import('./trace-command.js')).traceCommand,
  },
  {
    name: 'doctor',
    takes: '[options]',
    summary: 'look whether everything is as it should be, and say what to do',
    load: async () => (await import('./doctor-command.js')).doctorCommand,
  },
  {
    name: 'health',
    takes: '[options]',
    summary: 'ask the running services how they are, in one line',
    load: async () => (await import('./health-command.js')).healthCommand,
  },
  {
    name: 'repair',
    takes: '[options]',
    summary: 'mend what a restored backup of single streams leaves behind',
    load: async () => (await import('./repair-command.js')).repairCommand,
  },
  {
    name: 'permissions',
    takes: '[options]',
    summary: 'print the least NATS permissions of a role',
    load: async () => (await import('./permissions-command.js')).permissionsCommand,
  },
  {
    name: 'nats-server',
    takes: '[options]',
    summary: 'print the NATS server that `up` would start, installing the pinned one where there is none',
    load: async () => (await import('./nats-server-command.js')).natsServerCommand,
  },
];
