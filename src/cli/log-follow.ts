import { messageOf } from '../contracts/errors.js';
import { projectOf, type Token } from '../contracts/names.js';
import type { TimelineEntry, TimelineKind } from '../contracts/replies/dispatch-result.js';
import { batched } from '../engine/runtime/batched.js';
import { Shutdown } from '../engine/runtime/shutdown.js';
import { TailFollower } from '../engine/runtime/tail-follower.js';
import { onConnectionState } from '../nats/connection/connection-states.js';
import { natsTransport } from '../nats/connection/nats-client-transport.js';
import type { NatsPorts } from '../nats/open-nats.js';
import { ThroughlineClient } from '../sdk/throughline-client.js';
import { dropOldest } from '../shared/collections.js';
import { needsText } from '../shared/person-needed.js';
import { oneLine } from '../shared/text.js';
import { type Cli, coloured, note, out } from './command-context.js';
import type { Followed, Following } from './log-follow-all.js';
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

/** Announcements may get lost: this is the longest delay then. */
const LOOK_EVERY_MS = 2000;

export async function followLog(cli: Cli, options: FollowOptions): Promise<void> {
  const { session, json = false, kind: kinds, task } = options;
  const project = options.project === undefined ? undefined : projectOf(options.project);
  const pc = coloursOf(cli);
  const isWanted = (entry: TimelineEntry) =>
    (kinds?.includes(entry.kind) ?? true) && (task === undefined || entry.task === task);
  const show = (of: Token, entry: TimelineEntry) => {
    if (isWanted(entry))
      out(json ? JSON.stringify({ session: of, ...entry }) : timelineLine(pc, entry, of), coloured(cli));
    void needed?.(of);
  };
  let needed: ((session: Token) => Promise<void>) | undefined;
  // A reader of the pipe that has ended, such as head, ends this as well.
  process.stdout.once('error', () => process.exit());
  const shutdown = new Shutdown();
  await runUntilSignal(cli, shutdown, async () => {
    const { openPorts } = await import('./open-ports.js');
    const nats = await openPorts(cli, []);
    shutdown.add('the connection', () => nats.close());
    const timeoutMs = cli.config.requestTimeoutMs;
    const client = new ThroughlineClient(natsTransport(nats.connection, timeoutMs), { timeoutMs });
    needed = needsOnce(client);
    const faults = faultsOnce();
    const followed = { show, failed: faults.failed };
    const following = await (session === undefined
      ? import('./log-follow-all.js').then(({ followAll }) => followAll(cli, nats, { ...followed, project }))
      : followOne(client, nats, session, followed));
    shutdown.add('following', async () => following.stop());
    const unlisten = onConnectionState(nats.connection, (connected) => {
      note(
        connected
          ? '-- connected again: what was missed comes first'
          : '-- the connection is lost: trying again',
      );
      faults.forget();
      if (connected) following.look();
    });
    shutdown.add('the connection states', async () => void unlisten());
    for (const line of projectNote(options.project)) note(line);
    const scope = session ?? (project === undefined ? 'all sessions' : `project ${project}`);
    note(`-- watching ${scope}: Ctrl-C ends it`);
  });
}

/** Says each fault once, until there is another one. */
function faultsOnce() {
  let said: string | undefined;
  return {
    failed(error: unknown) {
      const text = messageOf(error);
      if (text !== said) note(`-- ${text}`);
      said = text;
    },
    forget() {
      said = undefined;
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

/** Follows one session by requests about it alone, as a user who is bound to it may make them. */
async function followOne(
  client: ThroughlineClient,
  nats: NatsPorts,
  session: Token,
  { show, failed }: Followed,
): Promise<Following> {
  const kinds = ['result', 'rejected', 'command', 'trace'] as const;
  const { sequence: after } = await client.tools.timelineList({ session, limit: 1 });
  if (after === 0) note(`-- there is no session ${session} yet: waiting for it to begin`);
  const follower = new TailFollower<TimelineEntry>({
    after,
    failed,
    async read(from) {
      const items: TimelineEntry[] = [];
      let through = from;
      let cursor: string | undefined;
      do {
        // The newest first: a later page must not see more than the first one did.
        const page = await client.tools.timelineList({
          ...{ session, kinds: [...kinds], after: from, limit: 500 },
          ...(cursor !== undefined && { cursor }),
        });
        if (cursor === undefined) through = page.sequence;
        items.push(...page.entries);
        cursor = page.next;
      } while (cursor !== undefined);
      return { items: items.toReversed(), through, isMore: false };
    },
    async tell(entries) {
      for (const entry of entries) show(session, entry);
    },
  });
  const look = () => follower.poke();
  const unwatch = nats.log.watch(session, look);
  const looking = setInterval(look, LOOK_EVERY_MS);
  return {
    look,
    stop() {
      clearInterval(looking);
      if (!nats.connection.isClosed()) unwatch();
      follower.close();
    },
  };
}
