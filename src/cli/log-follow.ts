import { codeOf, messageOf } from '../contracts/errors.js';
import { projectOf, type Token, token } from '../contracts/names.js';
import type { TimelineEntry, TimelineKind } from '../contracts/result-requests.js';
import { Shutdown } from '../engine/runtime/shutdown.js';
import {
  followEvents,
  listenerOn,
  type NatsConnection,
  onConnectionState,
} from '../nats/connection/connect-nats.js';
import { natsTransport } from '../nats/connection/nats-client-transport.js';
import { passes } from '../sdk/keep-trying.js';
import { ThroughlineClient } from '../sdk/throughline-client.js';
import { TimelineTail } from '../sdk/watch-session.js';
import type { Flags, Texts } from './cli-command.js';
import { type Cli, coloured, note, out } from './command-context.js';
import { allPages } from './output.js';
import { noteProject, refusedAll } from './session-argument.js';
import { coloursOf, timelineLine } from './show-reply.js';
import { runUntilSignal } from './signals.js';

interface FollowOptions extends Flags<'json'>, Texts<'project' | 'task'> {
  /** Default: all sessions, or those of the project. */
  readonly session: Token | undefined;
  readonly kind?: readonly TimelineKind[];
}

type Show = (session: Token, entry: TimelineEntry) => void;

export async function followLog(cli: Cli, options: FollowOptions): Promise<void> {
  const { session, json = false, kind: kinds, task } = options;
  const project = options.project === undefined ? undefined : projectOf(options.project);
  const pc = coloursOf(cli);
  const isWanted = (entry: TimelineEntry) =>
    (kinds?.includes(entry.kind) ?? true) && (task === undefined || entry.task === task);
  // A reader of the pipe that has ended, such as head, ends this as well.
  process.stdout.once('error', () => process.exit());
  const shutdown = new Shutdown();
  await runUntilSignal(cli, shutdown, async (ended) => {
    const { openConnection } = await import('./open-client.js');
    const connection = await openConnection(cli);
    const timeoutMs = cli.config.requestTimeoutMs;
    const client = new ThroughlineClient(natsTransport(connection, timeoutMs), { timeoutMs });
    shutdown.add('the connection', () => client.close());
    const show: Show = (of, entry) => {
      if (isWanted(entry))
        out(json ? JSON.stringify({ session: of, ...entry }) : timelineLine(pc, entry, of), coloured(cli));
    };
    let look = async () => {};
    if (session === undefined) {
      const all = await followAll(client, connection, project, show);
      look = all.look;
      shutdown.add('following', async () => all.stop());
    } else {
      const after = await newestOf(client, session);
      const follow = async () => {
        for await (const entry of client.watch({ session, after })) show(session, entry);
      };
      void follow().catch(ended);
    }
    const explain = async () => (await openConnection({ ...cli, autostart: undefined })).close();
    let wasConnected = true;
    const unlisten = onConnectionState(connection, (connected) => {
      // Each attempt that the server refuses is told as a loss.
      if (connected === wasConnected) return;
      wasConnected = connected;
      note(
        connected
          ? '-- connected again: what was missed comes first'
          : '-- the connection is lost: trying again',
      );
      if (connected) void look();
      else void explain().catch((error) => codeOf(error) === 'unavailable' || note(`-- ${messageOf(error)}`));
    });
    shutdown.add('the connection states', async () => void unlisten());
    noteProject(options.project);
    const scope = session ?? (project === undefined ? 'all sessions' : `project ${project}`);
    note(`-- watching ${scope}: Ctrl-C ends it`);
  });
}

async function newestOf(client: ThroughlineClient, session: Token): Promise<number> {
  const { sequence } = await client.tools.timelineList({ session, limit: 1 });
  if (sequence === 0) note(`-- there is no session ${session} yet: waiting for it to begin`);
  return sequence;
}

/** Sessions that may have moved while the connection was lost, and entries of one of them since the start. */
const PAGE = 200;

async function followAll(
  { tools }: ThroughlineClient,
  connection: NatsConnection,
  project: Token | undefined,
  show: Show,
): Promise<{ readonly look: () => Promise<void>; readonly stop: () => void }> {
  const tails = new Map<Token, Promise<TimelineTail | undefined>>();
  let lastFailure = '';
  const failed = (session: Token, error: unknown) => {
    const text = messageOf(error);
    if (text !== lastFailure) note(`-- ${text}`);
    lastFailure = text;
    if (passes(error)) return;
    void tails.get(session)?.then((tail) => tail?.close());
    tails.delete(session);
  };
  const listed = async () => {
    if (project === undefined)
      return (await tools.sessionList({ archived: true, brief: true, limit: PAGE })).sessions;
    const pages = await allPages((cursor) =>
      tools.sessionList({ archived: true, project, limit: PAGE, ...cursor }),
    );
    return pages.flatMap(({ sessions }) => sessions);
  };
  const before = await listed().catch(refusedAll);
  const [began = ''] = before
    .map(({ at }) => at)
    .sort()
    .reverse();
  const follow = async (session: Token) => {
    if (project !== undefined) {
      const { total } = await tools.sessionList({ names: [session], project, limit: 1 });
      if (total === 0) return undefined;
    }
    const { entries, sequence } = await tools.timelineList({ session, limit: PAGE });
    for (const entry of entries.toReversed())
      if (entry.at > began && entry.kind !== 'prompt') show(session, entry);
    return new TimelineTail(
      tools.timelineList,
      { session, after: sequence },
      {
        failed: (error) => failed(session, error),
        tell(more) {
          for (const entry of more) show(session, entry);
        },
      },
    );
  };
  const moved = (session: Token) => {
    const tail = tails.get(session) ?? follow(session);
    tails.set(session, tail);
    tail.then(
      (found) => found?.poke(),
      (error: unknown) => {
        tails.delete(session);
        failed(session, error);
      },
    );
  };
  const unfollow = followEvents(listenerOn(connection), ({ session }) => moved(session));
  return {
    async look() {
      lastFailure = '';
      const sessions = await listed().catch((error: unknown) => note(`-- ${messageOf(error)}`));
      for (const { session, at } of sessions ?? []) if (at > began) moved(token(session, 'session'));
    },
    stop() {
      unfollow();
      for (const tail of tails.values()) void tail.then((found) => found?.close());
    },
  };
}
