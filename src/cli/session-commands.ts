import { REQUESTS } from '../contracts/requests.js';
import type { Command } from './cli-command.js';
import { addRemove } from './remove-commands.js';
import { addRequest } from './request-command.js';
import { shownOf } from './session-argument.js';
import { addExport, addImport } from './session-import.js';
import { sessionLines } from './show-reply.js';

export function sessionCommand(program: Command): void {
  const session = program
    .command('session')
    .description('Lists and changes the sessions on this NATS server.')
    .examples('throughline session ls', 'throughline session complete demo');

  addRequest(session, 'ls', 'session-list', {
    without: ['brief'],
    examples: ['', '--stalled --project parser', '--older-than 30d --status completed', '--limit 20'],
    show: ({ sessions }, colours) =>
      sessions.length === 0 ? [] : sessionLines(colours, sessions, undefined, 'no figures yet'),
    remark: ({ sessions, total }) =>
      total === 0
        ? 'no such sessions: one begins with its first result, as "throughline publish" sends it; --archived lists archived ones'
        : shownOf(sessions.length, total, 'session'),
  });
  addRequest(session, 'iterations', 'iteration-list', { reads: true, examples: ['demo'] });
  addRequest(session, 'telemetry', 'telemetry-show', { examples: ['demo'] });
  addRequest(session, 'snapshot', 'snapshot-show', { reads: true, examples: ['demo', 'demo --whole'] });
  for (const word of ['open', 'complete', 'restart'] as const)
    addRequest(session, word, `session-${word}`, {
      examples: [`demo ${REQUESTS[`tool.session-${word}`].example}`],
    });
  addRequest(session, 'archive', 'session-archive', { examples: ['demo --reason "Shipped in 2.0"'] });
  addRequest(session, 'reopen', 'session-reopen', { examples: ['demo --reason "A bug was found"'] });
  addExport(session);
  addImport(session);
  addRemove(session);
}
