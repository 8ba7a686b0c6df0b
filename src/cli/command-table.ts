import type { Command } from 'commander';

/** A command of the program: what the overview shows, and the module that is loaded when it is chosen. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Its arguments, as the overview shows them: `[options] <role>`. */
  readonly takes?: string;
  readonly load: () => Promise<(program: Command) => void>;
}

/** All commands, in the order of the overview. One more is a module, and an entry here. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'up',
    takes: '[options]',
    summary: 'start all services, and a NATS server unless one is given',
    load: async () => (await import('./up-command.js')).upCommand,
  },
  {
    name: 'down',
    takes: '[options]',
    summary: 'end what `up` has started on a store',
    load: async () => (await import('./down-command.js')).downCommand,
  },
  {
    name: 'serve',
    takes: '[options]',
    summary: 'start services on a running NATS server',
    load: async () => (await import('./serve-command.js')).serveCommand,
  },
  {
    name: 'connect',
    takes: '[options] [client]',
    summary: 'connect a coding agent by hooks and MCP, or take it out again',
    load: async () => (await import('./connect-command.js')).connectCommand,
  },
  {
    name: 'publish',
    takes: '[options] <role>',
    summary: 'publish what an agent returned',
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
    summary: 'list sessions; show, archive, export, import or forget one',
    load: async () => (await import('./session-commands.js')).sessionCommand,
  },
  {
    name: 'project',
    summary: 'erase all sessions and learnings of a project',
    load: async () => (await import('./forget-commands.js')).projectCommand,
  },
  {
    name: 'retention',
    summary: 'say how long sessions and results are kept',
    load: async () => (await import('./retention-command.js')).retentionCommand,
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
    name: 'timeline',
    takes: '[options] [session]',
    summary: 'list what happened in a session',
    load: async () => (await import('./timeline-command.js')).timelineCommand,
  },
  {
    name: 'watch',
    takes: '[options]',
    summary: 'show what happens in all sessions, as it happens',
    load: async () => (await import('./watch-command.js')).watchCommand,
  },
  {
    name: 'proposals',
    summary: 'list and review what may become a learning',
    load: async () => (await import('./proposals-command.js')).proposalsCommand,
  },
  {
    name: 'learnings',
    summary: 'list, search and change what a project has learned',
    load: async () => (await import('./learnings-command.js')).learningsCommand,
  },
  {
    name: 'snapshot',
    summary: 'show or write the snapshot of a session',
    load: async () => (await import('./snapshot-command.js')).snapshotCommand,
  },
  {
    name: 'prompts',
    summary: 'show what was compiled last, and why',
    load: async () => (await import('./prompts-command.js')).promptsCommand,
  },
  {
    name: 'rejected',
    summary: 'show and retry results that could not be used',
    load: async () => (await import('./rejected-command.js')).rejectedCommand,
  },
  {
    name: 'import',
    summary: 'give a session existing knowledge, such as git history',
    load: async () => (await import('./import-command.js')).importCommand,
  },
  {
    name: 'template',
    summary: 'print the iteration template, or check your own',
    load: async () => (await import('./template-command.js')).templateCommand,
  },
  {
    name: 'schema',
    summary: 'print the JSON Schemas of results, requests, replies and events',
    load: async () => (await import('./schema-command.js')).schemaCommand,
  },
  {
    name: 'init',
    takes: '[options]',
    summary: 'track the progress of a session in a tasks.md',
    load: async () => (await import('./run-commands.js')).initCommand,
  },
  {
    name: 'plan',
    takes: '[options] [session]',
    summary: 'show the plan of a session, what is next and what came of each task',
    load: async () => (await import('./plan-command.js')).planCommand,
  },
  {
    name: 'status',
    takes: '[options] [session]',
    summary: 'show the progress of a run and what each task needs next',
    load: async () => (await import('./run-commands.js')).statusCommand,
  },
  {
    name: 'ledger',
    takes: '[options] [session]',
    summary: 'show what the ledgers know about a task',
    load: async () => (await import('./run-commands.js')).ledgerCommand,
  },
  {
    name: 'work',
    takes: '[options]',
    summary: 'run a plan with agents: work, check, review, until it is done',
    load: async () => (await import('./work-command.js')).workCommand,
  },
  {
    name: 'telemetry',
    takes: '[options] [session]',
    summary: 'show what was compiled for a session, and how',
    load: async () => (await import('./telemetry-command.js')).telemetryCommand,
  },
  {
    name: 'trace',
    summary: 'show what an agent did for an intent, with its compacted history',
    load: async () => (await import('./trace-command.js')).traceCommand,
  },
  {
    name: 'mcp',
    takes: '[options]',
    summary: 'serve the memory of a session to coding agents, by MCP',
    load: async () => (await import('./mcp-command.js')).mcpCommand,
  },
  {
    name: 'hook',
    takes: '[options] <client>',
    summary: 'answer an event of a coding agent',
    load: async () => (await import('./hook-command.js')).hookCommand,
  },
  {
    name: 'doctor',
    takes: '[options]',
    summary: 'check the whole installation and say what to fix',
    load: async () => (await import('./doctor-command.js')).doctorCommand,
  },
  {
    name: 'health',
    takes: '[options]',
    summary: 'print the health of the running services in one line',
    load: async () => (await import('./health-command.js')).healthCommand,
  },
  {
    name: 'backup',
    takes: '[options] <directory>',
    summary: 'copy the whole installation into a directory, while it runs',
    load: async () => (await import('./backup-command.js')).backupCommand,
  },
  {
    name: 'restore',
    takes: '[options] <directory>',
    summary: 'make an installation from a backup, on a server that has none',
    load: async () => (await import('./backup-command.js')).restoreCommand,
  },
  {
    name: 'repair',
    takes: '[options]',
    summary: 'repair stream numbers after only some streams were restored',
    load: async () => (await import('./repair-command.js')).repairCommand,
  },
  {
    name: 'permissions',
    takes: '[options]',
    summary: 'print the minimal NATS permissions of a role',
    load: async () => (await import('./permissions-command.js')).permissionsCommand,
  },
  {
    name: 'completion',
    takes: '[options] [shell]',
    summary: 'print a script that completes commands in your shell',
    load: async () => (await import('./completion-command.js')).completionCommand,
  },
  {
    name: 'nats-server',
    takes: '[options]',
    summary: 'print the NATS server that `up` would start; installs the pinned one if none is found',
    load: async () => (await import('./nats-server-command.js')).natsServerCommand,
  },
];
