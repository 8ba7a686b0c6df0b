import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Command } from 'commander';
import { systemCode } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import type { ToolReply } from '../contracts/replies/replies.js';
import {
  SESSION_FILE_VERSION,
  type SessionFileEnd,
  type SessionFileHead,
} from '../contracts/session-file.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { visible } from '../shared/terminal-text.js';
import { counted } from '../shared/text.js';
import { VERSION } from '../version.js';
import { cliOf, examples, note, withClient } from './command-context.js';
import { eventProgress, patiently } from './progress-line.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';

export function addExport(session: Command): void {
  onSession(session.command('export'))
    .summary('write a session to a file')
    .description(
      'Writes all events of a session as JSON lines, for `throughline session import`, here or on another server. The last\n' +
        'line shows that the file is complete. Results that come while it is written may be missing.',
    )
    .addHelpText('after', examples('throughline session export demo > demo.jsonl'))
    .action(async (...given: unknown[]) => {
      const command = given.at(-1) as Command;
      const cli = cliOf(command);
      const name = sessionGiven(cli, command);
      const progress = eventProgress('exported');
      const written = await withClient(cli, (client) =>
        exported(client, name, progress.reached).finally(progress.ended),
      ).catch((fault: unknown) => {
        if (systemCode(fault) === 'EPIPE') return undefined;
        throw fault;
      });
      if (written === undefined) {
        process.exitCode = 1;
        return note('-- the export is not complete: what read it has ended');
      }
      const { events, skipped } = written;
      const left =
        skipped === 0 ? '' : `; ${counted(skipped, 'message')} that cannot be read as events left out`;
      note(`-- exported session ${name}: ${counted(events, 'event')}${left}`);
    });
}

/** All events of a session, a page at a time. */
export async function* exportPages(
  client: ThroughlineClient,
  session: string,
): AsyncGenerator<ToolReply<'session-export'>> {
  for (let cursor: string | undefined; ; ) {
    const begin = cursor;
    const page = await patiently(() =>
      client.tools.sessionExport({ session, ...(begin !== undefined && { cursor: begin }) }),
    );
    yield page;
    cursor = page.next;
    if (cursor === undefined) return;
  }
}

async function exported(
  client: ThroughlineClient,
  session: Token,
  onEvents: (count: number) => void,
): Promise<{ readonly events: number; readonly skipped: number }> {
  const hash = createHash('sha256');
  const write = async (lines: readonly object[]) => {
    // JSON that is the same, and that a terminal may be shown.
    const text = lines.map((line) => `${visible(JSON.stringify(line))}\n`).join('');
    hash.update(text);
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  };
  const shown = await patiently(() => client.tools.sessionShow({ session }));
  requireEvents(session, shown.sequence);
  const { project } = shown.session;
  let [events, skipped] = [0, 0];
  for await (const page of exportPages(client, session)) {
    if (events === 0 && skipped === 0) {
      const head: SessionFileHead = {
        ...{ throughline: 'session', v: SESSION_FILE_VERSION, session },
        ...(project !== undefined && { project }),
        ...{ sequence: page.sequence, version: VERSION, at: new Date().toISOString() },
      };
      await write([head]);
    }
    await write(page.events);
    events += page.events.length;
    skipped += page.skipped;
    onEvents(events);
  }
  const end: SessionFileEnd = { events, sha256: hash.digest('hex') };
  if (!process.stdout.write(`${JSON.stringify(end)}\n`)) await once(process.stdout, 'drain');
  return { events, skipped };
}
