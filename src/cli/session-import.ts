import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { codeOf, messageOf, ThroughlineError } from '../contracts/errors.js';
import { type Token, token } from '../contracts/names.js';
import type { StoredEvent } from '../contracts/session-events.js';
import { placed, sessionFileEvent } from '../contracts/session-file.js';
import { CanonicalState } from '../memory/session/copied-events.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { counted } from '../shared/text.js';
import { cliOf, examples, note, out, withClient } from './command-context.js';
import { eventProgress, patiently, showProgress } from './progress-line.js';
import {
  checkedSessionFile,
  damaged,
  numberedEvents,
  type SessionFile,
  type SessionSource,
  sessionSource,
} from './read-session-file.js';
import { exportPages } from './session-export.js';

interface ImportOptions {
  readonly as?: string;
  readonly json?: boolean;
}

/** Events and bytes of a request. */
const PAGE = 500;
const PAGE_BYTES = 256 * 1024;
/** Between two looks whether another service has taken in what came before. */
const AGAIN_MS = 100;
const MOST_AGAIN = 100;

export function addImport(session: Command): void {
  session
    .command('import')
    .summary('make a session from a file')
    .argument('<file>', 'a file that "throughline session export" has written; - is standard input')
    .description(
      'Makes a session from a file, here or on another server: the same state, byte for byte, but for its name and sequences. It\n' +
        'becomes a session once all events are there. The same command continues an import that was cut short. New results count\n' +
        'as newer than those of the file.',
    )
    .option('--as <name>', 'the name that it gets (default: that of the file)')
    .option('--json', 'print {"session","events","dispatches","same"}')
    .addHelpText(
      'after',
      examples(
        'throughline session import demo.jsonl',
        'throughline session import demo.jsonl --as demo-2',
        'throughline session export demo | throughline session import - --as demo-2',
      ),
    )
    .action(async (path: string, options: ImportOptions, command: Command) => {
      const cli = cliOf(command);
      const checking = eventProgress('checked', isShown());
      const source = await sessionSource(path);
      const file = await checkedSessionFile(source, checking.reached).finally(checking.ended);
      const name =
        options.as === undefined
          ? token(file.head.session, `${source.name} line 1: session`)
          : token(options.as, '--as');
      await withClient(cli, (client) => imported(client, name, source, file)).catch((fault: unknown) => {
        // What the service cannot take is in the file, not on the command line.
        throw codeOf(fault) === 'schema_invalid' ? damaged(source.name, messageOf(fault)) : fault;
      });
      const { count } = file.state;
      if (options.json === true)
        return out(JSON.stringify({ session: name, events: count, dispatches: file.dispatches, same: true }));
      out(
        `imported session ${name}: ${counted(count, 'event')}; its state is that of the file, byte for byte, but for its name and sequences`,
      );
    });
}

function isShown(): boolean {
  return process.stderr.isTTY === true;
}

async function imported(client: ThroughlineClient, session: Token, source: SessionSource, file: SessionFile) {
  const of = { session, file: file.sha256, dispatches: file.dispatches };
  const ask = (more: object) => patiently(() => client.requestTool('session-import', { ...of, ...more }));
  let begun = await ask({});
  while (begun.state === 'numbers') {
    if (isShown()) note(`-- numbers of results are moved up: ${begun.dispatches}`);
    begun = await ask({});
  }
  const progress = showProgress(isShown(), file.state.count, 'event', 'imported');
  const send = async (events: readonly StoredEvent[]) => {
    const last = events.at(-1)?.sequence ?? 0;
    for (let attempt = 1; (await ask({ events })).events < last; attempt += 1) {
      if (attempt === MOST_AGAIN) throw notSame(session);
      await sleep(AGAIN_MS);
    }
    progress.reached(last);
  };
  try {
    let page: StoredEvent[] = [];
    let bytes = 0;
    for await (const event of numberedEvents(source)) {
      const size = Buffer.byteLength(JSON.stringify(event));
      if (page.length > 0 && (page.length >= PAGE || bytes + size > PAGE_BYTES)) {
        await send(page);
        [page, bytes] = [[], 0];
      }
      page.push(event);
      bytes += size;
    }
    if (page.length > 0) await send(page);
  } finally {
    progress.ended();
  }
  await requireSame(client, session, file);
  try {
    await ask({ done: true });
  } catch (error) {
    // The answer to an earlier attempt was lost: it is a session by now.
    if (codeOf(error) !== 'session_exists') throw error;
  }
}

/** Reads what is stored, and compares it with the file. */
async function requireSame(client: ThroughlineClient, session: Token, { state }: SessionFile): Promise<void> {
  const stored = new CanonicalState();
  const progress = showProgress(isShown(), state.count, 'event', 'compared');
  try {
    for await (const { events } of exportPages(client, session)) {
      stored.add(events.map((each) => placed(sessionFileEvent.parse(each))));
      progress.reached(stored.count);
    }
  } finally {
    progress.ended();
  }
  if (stored.count !== state.count || stored.text() !== state.text()) throw notSame(session);
}

function notSame(session: Token): ThroughlineError {
  return new ThroughlineError(
    'conflict',
    `session ${session} is not the same as the file, so it is not a session yet: secrets may have been taken out, or someone else has imported it at the same time. Remove it with "throughline session rm ${session}", and import the file again`,
  );
}
