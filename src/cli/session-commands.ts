import type { Command } from './cli-command.js';
import { addRemove } from './remove-commands.js';
import { addRequests } from './request-command.js';
import { shownOf } from './session-argument.js';
import { addExport, addImport } from './session-import.js';
import { sessionLines } from './show-reply.js';

export function sessionCommand(program: Command): void {
  const session = program
    .command('session')
    .description('Lists and changes the sessions on this NATS server.')
    .examples('throughline session ls', 'throughline session complete demo');

  addRequests(session, {
    'tool.session-list': {
      sets: { brief: false },
      show: ({ sessions }, colours) =>
        sessions.length === 0 ? [] : sessionLines(colours, sessions, undefined, 'no figures yet'),
      remark: ({ sessions, total }) =>
        total === 0
          ? 'no such sessions: one begins with its first result, as "throughline publish" sends it; --archived lists archived ones'
          : shownOf(sessions.length, total, 'session'),
    },
    ...{ 'tool.session-export': false, 'tool.session-import': false, 'tool.session-forget': false },
  });
  addExport(session);
  addImport(session);
  addRemove(session);
}
