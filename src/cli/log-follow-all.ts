import { codeOf, messageOf, ThroughlineError } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import type { TimelineEntry } from '../contracts/replies/dispatch-result.js';
import { SESSION_EVENTS, type StoredEvent } from '../contracts/session-events.js';
import { createSessionReader } from '../engine/folding/session-folding.js';
import { silentLogger } from '../engine/ports/clients.js';
import { batched, Semaphore } from '../engine/runtime/batched.js';
import { TailFollower } from '../engine/runtime/tail-follower.js';
import { withoutRefused } from '../memory/session/counted-dispatches.js';
import { timelineEntry } from '../memory/session/timeline-entry.js';
import { START_HOLDERS } from '../nats/jetstream/list-streams.js';
import { type SessionsEvent, type StreamEnds, sessionTails } from '../nats/jetstream/session-tails.js';
import type { NatsPorts } from '../nats/open-nats.js';
import { SessionProjects } from '../services/learnings/learner.js';
import { named } from '../shared/text.js';
import { type Cli, note } from './command-context.js';

/** Something that is followed until it is stopped. */
export interface Following {
  /** Looks for entries whose announcement was lost. */
  readonly look: () => void;
  readonly stop: () => void;
}

export interface Followed {
  readonly show: (session: Token, entry: TimelineEntry) => void;
  readonly failed: (error: unknown) => void;
}

/** Announcements may get lost: this is the longest wait then. */
const LOOK_EVERY_MS = 30_000;
/** Streams that are read at a time. */
const AT_ONCE = 8;
/** Sessions whose last command, and whose project, is remembered. */
const MOST_KNOWN = 10_000;
const FOLDED = 16;

/** Follows the streams themselves, each from its present end. */
export async function followAll(
  { config }: Cli,
  nats: NatsPorts,
  { show, failed, project }: Followed & { readonly project: Token | undefined },
): Promise<Following> {
  const tails = sessionTails(nats, config.requestTimeoutMs);
  const turns = new Semaphore(AT_ONCE);
  const projects = projectsOf(nats);
  const counting = lateCommands();
  const followers = new Map<string, TailFollower<SessionsEvent>>();
  const isWanted = async (session: Token) =>
    project === undefined || (await projects.projectOf(session)) === project;
  const follow = (stream: string, after: number) => {
    const follower = new TailFollower<SessionsEvent>({
      after,
      failed,
      read: (from) =>
        turns.run(async () => {
          const { events: items, ...read } = await tails.read(stream, from);
          const wanted = new Map<Token, boolean>();
          for (const { session } of items)
            if (!wanted.has(session)) wanted.set(session, await isWanted(session));
          return { items: items.filter(({ session }) => wanted.get(session)), ...read };
        }),
      async tell(events) {
        for (const { session, stored } of events)
          if (counting(session, stored)) show(session, timelineEntry(stored));
      },
    });
    followers.set(stream, follower);
    return follower;
  };
  /** Streams without a leader, and of which that was said. */
  const hidden = new Set<string>();
  const say = ({ last, leaderless }: StreamEnds) => {
    const more = leaderless.filter((stream) => !hidden.has(stream));
    if (more.length > 0)
      note(`-- no leader for ${named(more)}: events there are not shown; ${START_HOLDERS}`);
    const back = [...hidden].filter((stream) => last.has(stream));
    // A stream without a follower has no known position, so it starts at its current end; the others resume.
    const fresh = back.filter((stream) => !followers.has(stream));
    if (back.length > 0) note(`-- a leader again for ${named(back)}`);
    if (fresh.length > 0) note(`-- shown from here: ${named(fresh)}`);
    for (const stream of fresh) follow(stream, last.get(stream) ?? 0);
    const still = new Set(leaderless);
    for (const stream of hidden) if (!still.has(stream)) hidden.delete(stream);
    for (const stream of more) hidden.add(stream);
  };
  /** Streams heard of before the initial positions are known; undefined afterwards. */
  let heard: Set<string> | undefined = new Set();
  const unlisten = tails.listen((stream) => {
    if (heard !== undefined) heard.add(stream);
    else if (hidden.has(stream)) followers.get(stream)?.poke();
    // One that was not there is read from its beginning.
    else (followers.get(stream) ?? follow(stream, 0)).poke();
  });
  const boundUser = (error: unknown) =>
    codeOf(error) === 'permission_denied'
      ? new ThroughlineError(
          'permission_denied',
          `${messageOf(error)}; a user who is bound to sessions gives --session`,
        )
      : error;
  const ends = await tails.ends().catch((error: unknown) => {
    unlisten();
    throw boundUser(error);
  });
  for (const [stream, last] of ends.last) follow(stream, last);
  say(ends);
  for (const stream of heard) if (!hidden.has(stream)) (followers.get(stream) ?? follow(stream, 0)).poke();
  heard = undefined;
  // One look at a time: it waits for streams without a leader.
  const looked = batched(async () => {
    const before = new Map([...followers].map(([stream, follower]) => [stream, follower.at]));
    const now = await tails.ends();
    say(now);
    for (const [stream, last] of now.last)
      (followers.get(stream) ?? follow(stream, 0)).endsAt(last, before.get(stream) ?? 0);
  });
  const look = () => void looked(undefined).catch(failed);
  const looking = setInterval(look, LOOK_EVERY_MS);
  return {
    look,
    stop() {
      clearInterval(looking);
      unlisten();
      for (const follower of followers.values()) follower.close();
    },
  };
}

function projectsOf({ log, snapshots }: NatsPorts): SessionProjects {
  const sessions = createSessionReader({ log, snapshots, logger: silentLogger, maxSessions: FOLDED });
  return new SessionProjects({ log, sessions, maxKnown: MOST_KNOWN });
}

/** Says of each event whether it counts: of several commands decided on one state, the first does. */
function lateCommands(): (session: Token, stored: StoredEvent) => boolean {
  const last = new Map<Token, StoredEvent>();
  return (session, stored) => {
    const before = last.get(session);
    const isCounted = withoutRefused([...(before ? [before] : []), stored]).includes(stored);
    if (isCounted && SESSION_EVENTS.isCommand(stored.event.type)) {
      if (last.size >= MOST_KNOWN) last.clear();
      last.set(session, stored);
    }
    return isCounted;
  };
}
