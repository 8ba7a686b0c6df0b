import { codeOf, messageOf, ThroughlineError } from '../contracts/errors.js';
import { PUBLISHED_EVENTS, projectOf, publishedEvent, type Token, token } from '../contracts/names.js';
import type { TimelineEntry, TimelineKind } from '../contracts/replies/dispatch-result.js';
import { batched, Semaphore } from '../engine/runtime/batched.js';
import { Shutdown } from '../engine/runtime/shutdown.js';
import { type NatsConnection, subscribeResiliently } from '../nats/connection/connect-nats.js';
import { onConnectionState } from '../nats/connection/connection-states.js';
import { natsTransport } from '../nats/connection/nats-client-transport.js';
import { passes } from '../sdk/keep-trying.js';
import type { TailFollower } from '../sdk/tail-follower.js';
import { ThroughlineClient } from '../sdk/throughline-client.js';
import { tailTimeline, type WatchedEvent } from '../sdk/watch-session.js';
import { dropOldest } from '../shared/collections.js';
import { oneLine } from '../shared/text.js';
import { needsText } from '../shared/wire-words.js';
import type { Flags, Texts } from './cli-command.js';
import { type Cli, coloured, note, out } from './command-context.js';
import { projectNote } from './session-argument.js';
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
    } else {
      const after = await newestOf(client, session);
      const follow = async () => {
        for await (const entry of client.watch({ session, after })) show(session, entry);
      };
      void follow().catch(ended);
    }
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

/** Announcements may get lost: this is the longest delay then. */
const LOOK_EVERY_MS = 30_000;
const AT_ONCE = 8;
/** Sessions, and entries of a timeline, in a page of a list. */
const PAGE = 200;
const MOST_READ = 500;

/** Follows each session that moves, and shows what has happened since the start. */
async function followAll(
  { tools }: ThroughlineClient,
  connection: NatsConnection,
  project: Token | undefined,
  show: Show,
): Promise<{ readonly look: () => Promise<void>; readonly stop: () => void }> {
  const turns = new Semaphore(AT_ONCE);
  const list = (request: Parameters<typeof tools.timelineList>[0]) =>
    turns.run(() => tools.timelineList(request));
  const followers = new Map<Token, Promise<TailFollower<WatchedEvent> | undefined>>();
  /** Sessions of other projects, until the next look. */
  const others = new Set<Token>();
  let said = '';
  const failed = (session: Token, error: unknown) => {
    const text = messageOf(error);
    if (text !== said) note(`-- ${text}`);
    said = text;
    if (passes(error)) return;
    void followers.get(session)?.then((follower) => follower?.close());
    followers.delete(session);
  };
  /** When the newest event of all sessions came, as of the start and of the last look. */
  let [began, seen] = ['', ''];
  const follow = async (session: Token) => {
    if (project !== undefined) {
      const { total } = await tools.sessionList({ names: [session], project, limit: 1 });
      if (total === 0) {
        others.add(session);
        return undefined;
      }
    }
    const entries: TimelineEntry[] = [];
    let page = await list({ session, limit: MOST_READ });
    const { sequence } = page;
    for (;;) {
      const fresh = page.entries.filter(({ at }) => at > began);
      entries.push(...fresh);
      if (page.next === undefined || fresh.length < page.entries.length) break;
      page = await list({ session, limit: MOST_READ, cursor: page.next });
    }
    for (const entry of entries.reverse()) if (entry.kind !== 'prompt') show(session, entry);
    return tailTimeline(session, sequence, list, {
      failed: (error) => failed(session, error),
      async tell(more) {
        for (const entry of more) show(session, entry);
      },
    });
  };
  const heard = (session: Token) => {
    if (others.has(session)) return;
    const follower = followers.get(session) ?? follow(session);
    followers.set(session, follower);
    follower.then(
      (found) => (found === undefined ? followers.delete(session) : found.poke()),
      (error: unknown) => {
        followers.delete(session);
        failed(session, error);
      },
    );
  };
  /** Hears of the sessions that have moved since the last look; they are listed the newest first. */
  const catchUp = async () => {
    let newest = seen;
    for (let cursor: string | undefined; ; ) {
      const page = await tools.sessionList({
        ...{ archived: true, limit: PAGE },
        ...(project === undefined ? { brief: true } : { project }),
        ...(cursor !== undefined && { cursor }),
      });
      for (const { session, at } of page.sessions) {
        if (at > newest) newest = at;
        if (at >= seen && began !== '') heard(token(session, 'session'));
      }
      cursor = page.next;
      const isSeen = began === '' || page.sessions.some(({ at }) => at < seen);
      if (cursor === undefined || (isSeen && project === undefined)) break;
    }
    seen = newest;
  };
  await catchUp().catch((error: unknown) => {
    throw codeOf(error) === 'permission_denied'
      ? new ThroughlineError(
          'permission_denied',
          `${messageOf(error)}; a user who is bound to sessions gives --session`,
        )
      : error;
  });
  began = seen === '' ? '0' : seen;
  const subscriptions = Object.values(PUBLISHED_EVENTS).map((subjects) =>
    subscribeResiliently(connection, subjects, ({ subject }) => {
      const session = publishedEvent(subject)?.session;
      if (session !== undefined) heard(session);
    }),
  );
  // One look at a time.
  const looked = batched(async () => {
    said = '';
    others.clear();
    await catchUp().catch((error: unknown) => note(`-- ${messageOf(error)}`));
  });
  const look = () => looked(undefined);
  const looking = setInterval(() => void look(), LOOK_EVERY_MS);
  return {
    look,
    stop() {
      clearInterval(looking);
      if (!connection.isClosed()) for (const subscription of subscriptions) subscription.close();
      for (const follower of followers.values()) void follower.then((found) => found?.close());
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
