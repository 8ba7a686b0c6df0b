import { codeOf, messageOf, ThroughlineError } from '../contracts/errors.js';
import { PUBLISHED_EVENTS, projectOf, publishedEvent, type Token, token } from '../contracts/names.js';
import type { TimelineEntry, TimelineKind } from '../contracts/replies/dispatch-result.js';
import { batched, Semaphore } from '../engine/runtime/batched.js';
import { Shutdown } from '../engine/runtime/shutdown.js';
import type { TailFollower } from '../engine/runtime/tail-follower.js';
import type { NatsConnection } from '../nats/connection/connect-nats.js';
import { onConnectionState } from '../nats/connection/connection-states.js';
import { natsTransport } from '../nats/connection/nats-client-transport.js';
import { subscribeResiliently } from '../nats/connection/resilient-subscription.js';
import { passes } from '../sdk/keep-trying.js';
import { ThroughlineClient } from '../sdk/throughline-client.js';
import { tailTimeline, type WatchedEvent } from '../sdk/watch-session.js';
import { dropOldest } from '../shared/collections.js';
import { needsText } from '../shared/person-needed.js';
import { oneLine } from '../shared/text.js';
import { type Cli, coloured, note, out } from './command-context.js';
import { projectNote } from './session-argument.js';
import { coloursOf, timelineLine } from './show-reply.js';
import { runUntilSignal } from './signals.js';

/** `throughline log -f`: what happens, as it happens. */

interface FollowOptions {
  /** Default: all sessions, or those of the project. */
  readonly session: Token | undefined;
  readonly project?: string;
  readonly kind?: readonly TimelineKind[];
  readonly task?: string;
  readonly json?: boolean;
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
    const { openConnection } = await import('./open-ports.js');
    const connection = await openConnection(cli);
    const timeoutMs = cli.config.requestTimeoutMs;
    const client = new ThroughlineClient(natsTransport(connection, timeoutMs), { timeoutMs });
    shutdown.add('the connection', () => client.close());
    const needed = needsOnce(client);
    const show: Show = (of, entry) => {
      if (isWanted(entry))
        out(json ? JSON.stringify({ session: of, ...entry }) : timelineLine(pc, entry, of), coloured(cli));
      void needed(of);
    };
    let look = async () => {};
    if (session === undefined) {
      const all = await followAll(client, connection, project, show);
      look = all.look;
      shutdown.add('following', async () => all.stop());
    } else void followOne(client, session, await newestOf(client, session), show).catch(ended);
    const unlisten = onConnectionState(connection, (connected) => {
      note(
        connected
          ? '-- connected again: what was missed comes first'
          : '-- the connection is lost: trying again',
      );
      if (connected) void look();
    });
    shutdown.add('the connection states', async () => void unlisten());
    for (const line of projectNote(options.project)) note(line);
    const scope = session ?? (project === undefined ? 'all sessions' : `project ${project}`);
    note(`-- watching ${scope}: Ctrl-C ends it`);
  });
}

async function newestOf(client: ThroughlineClient, session: Token): Promise<number> {
  const { sequence } = await client.tools.timelineList({ session, limit: 1 });
  if (sequence === 0) note(`-- there is no session ${session} yet: waiting for it to begin`);
  return sequence;
}

async function followOne(
  client: ThroughlineClient,
  session: Token,
  after: number,
  show: Show,
): Promise<void> {
  for await (const entry of client.watch({ session, after })) show(session, entry);
}

/** Announcements may get lost: this is the longest delay then. */
const LOOK_EVERY_MS = 30_000;
/** Sessions that are read at a time. */
const AT_ONCE = 8;
/** Sessions in a page of a list. */
const PAGE = 200;

/** Follows each session that moves, from where it was at the start. */
async function followAll(
  { tools }: ThroughlineClient,
  connection: NatsConnection,
  project: Token | undefined,
  show: Show,
): Promise<{ readonly look: () => Promise<void>; readonly stop: () => void }> {
  const turns = new Semaphore(AT_ONCE);
  const reached = new Map<string, number>();
  const followers = new Map<Token, TailFollower<WatchedEvent>>();
  /** Sessions of other projects, until the next look. */
  const others = new Set<Token>();
  let said = '';
  const failed = (session: Token, error: unknown) => {
    const text = messageOf(error);
    if (text !== said) note(`-- ${text}`);
    said = text;
    const follower = followers.get(session);
    if (follower === undefined || passes(error)) return;
    follower.close();
    reached.set(session, follower.at);
    followers.delete(session);
  };
  const follow = (session: Token, after: number) => {
    const list = (request: Parameters<typeof tools.timelineList>[0]) =>
      turns.run(() => tools.timelineList(request));
    const follower = tailTimeline(session, after, list, {
      failed: (error) => failed(session, error),
      async tell(entries) {
        for (const entry of entries) show(session, entry);
      },
    });
    followers.set(session, follower);
    return follower;
  };
  const moved = async (session: Token) => {
    const known = followers.get(session);
    if (known !== undefined) return known.poke();
    if (project !== undefined && !reached.has(session)) {
      if (others.has(session)) return;
      const { total } = await tools.sessionList({ names: [session], project, limit: 1 });
      if (total === 0) return void others.add(session);
    }
    (followers.get(session) ?? follow(session, reached.get(session) ?? 0)).poke();
  };
  const heard = (session: Token) => void moved(session).catch((error: unknown) => failed(session, error));
  /** Lists sessions, the newest first, until a page has none that has moved. */
  const list = async (onMoved: (session: Token, sequence: number) => void) => {
    for (let cursor: string | undefined; ; ) {
      let isNew = false;
      const page = await tools.sessionList({
        ...{ archived: true, limit: PAGE },
        ...(project === undefined ? { brief: true } : { project }),
        ...(cursor !== undefined && { cursor }),
      });
      for (const { session: name, sequence } of page.sessions) {
        const session = token(name, 'session');
        if (sequence <= (followers.get(session)?.at ?? reached.get(name) ?? 0)) continue;
        isNew = true;
        onMoved(session, sequence);
      }
      cursor = page.next;
      if (cursor === undefined || (!isNew && project === undefined)) return;
    }
  };
  /** Sessions that were announced before the list was read. */
  let early: Set<Token> | undefined = new Set();
  const subscriptions = Object.values(PUBLISHED_EVENTS).map((subjects) =>
    subscribeResiliently(connection, subjects, ({ subject }) => {
      const session = publishedEvent(subject)?.session;
      if (session === undefined) return;
      if (early === undefined) heard(session);
      else early.add(session);
    }),
  );
  await list((session, sequence) => reached.set(session, sequence)).catch((error: unknown) => {
    throw codeOf(error) === 'permission_denied'
      ? new ThroughlineError(
          'permission_denied',
          `${messageOf(error)}; a user who is bound to sessions gives --session`,
        )
      : error;
  });
  const waiting = early;
  early = undefined;
  for (const session of waiting) heard(session);
  // One look at a time.
  const looked = batched(async () => {
    others.clear();
    said = '';
    await list(heard).catch((error: unknown) => note(`-- ${messageOf(error)}`));
  });
  const look = () => looked(undefined);
  const looking = setInterval(() => void look(), LOOK_EVERY_MS);
  return {
    look,
    stop() {
      clearInterval(looking);
      if (!connection.isClosed()) for (const subscription of subscriptions) subscription.close();
      for (const follower of followers.values()) follower.close();
    },
  };
}

const MOST_KNOWN = 10_000;

/** Says once what needs a person in a session that has moved. */
function needsOnce(client: ThroughlineClient): (session: Token) => Promise<void> {
  const known = new Map<Token, readonly string[]>();
  return batched(async (sessions: readonly Token[]) => {
    for (const session of new Set(sessions)) {
      // Without services, or permission to ask them, nothing is known.
      const status = await client.runStatus(session).catch(() => undefined);
      if (status === undefined) continue;
      const needs = needsText(status).map(oneLine);
      const before = known.get(session) ?? [];
      for (const need of needs) if (!before.includes(need)) note(`-- ${session} needs you: ${need}`);
      known.set(session, needs);
      dropOldest(known, MOST_KNOWN);
    }
  });
}
