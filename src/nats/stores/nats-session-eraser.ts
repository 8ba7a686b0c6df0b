import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import * as names from '../../contracts/names.js';
import {
  ERASED_KINDS,
  type ErasedCounts,
  type ErasedKind,
  type Marks,
} from '../../engine/ports/session-lifecycle.js';
import { ifExists } from '../connection/nats-errors.js';
import { batchFrom } from '../jetstream/direct-get.js';
import { type ErasePorts, eraseMessages, rewriteStream } from '../jetstream/erase-messages.js';
import { newestMessage } from '../jetstream/newest-page.js';
import { newestSnapshot } from '../jetstream/topology.js';

interface Place {
  readonly stream: string;
  readonly subjects: string;
}

/** Streams whose values are replaced while a session lives. */
const REWRITTEN = {
  prompts: [names.PROMPTS_STREAM],
  buckets: [names.SNAPSHOT_BUCKET, names.INDEX_BUCKET].map((name) => `KV_${name}`),
  lifecycle: [`KV_${names.LIFECYCLE_BUCKET}`],
} as const;

/**
 * Erases what is stored of a session, from streams, buckets and the store's files. Erasing can be repeated. It may drop replaced
 * values of other sessions. Every method throws `unavailable` and `permission_denied`.
 */
export class NatsSessionEraser {
  readonly #ports: ErasePorts;
  readonly #layout: names.SessionLayout;

  constructor(ports: ErasePorts, layout: names.SessionLayout) {
    this.#ports = ports;
    this.#layout = layout;
  }

  /** @param until ISO 8601 in UTC, in the past: results stored before it belong to the session */
  async marks(session: Token, until: string): Promise<Marks> {
    const [dispatches, last, snapshot] = await Promise.all([
      this.#lastDispatchBefore(until),
      this.#last(names.streamOf(this.#layout, session)),
      // The snapshot may be all that is left of the session.
      this.#found(0, () => newestSnapshot(this.#ports.jsm, session)),
    ]);
    return { dispatches, sequence: Math.max(last, snapshot) };
  }

  /** Returns the last sequence of DISPATCH; 0 if it is empty. */
  async lastDispatch(): Promise<number> {
    return this.#last(names.DISPATCH_STREAM);
  }

  async count(session: Token): Promise<ErasedCounts> {
    return this.#counts(session, ({ stream, subjects }) =>
      this.#found(0, async () => {
        const { state } = await this.#ports.jsm.streams.info(stream, { subjects_filter: subjects });
        return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
      }),
    );
  }

  async erase(session: Token, marks: Marks): Promise<ErasedCounts> {
    return this.#counts(session, (place, kind) => {
      if (kind === 'events') return this.#eraseEvents(place, marks.sequence);
      if (place.stream.startsWith('KV_')) return this.#purge(place);
      const through = kind === 'dispatches' ? { through: marks.dispatches } : {};
      return eraseMessages(this.#ports, place.stream, place.subjects, through);
    });
  }

  /** Erases some events of a session, some of its results, and its compiled prompts. */
  async eraseSome(
    session: Token,
    some: Readonly<Record<'events' | 'dispatches', readonly number[]>>,
  ): Promise<void> {
    const { prompts, ...places } = placesOf(this.#layout, session);
    for (const kind of ['events', 'dispatches'] as const)
      for (const from of some[kind])
        await eraseMessages(this.#ports, places[kind].stream, places[kind].subjects, { from, through: from });
    await eraseMessages(this.#ports, prompts.stream, prompts.subjects);
  }

  /** Erases the events of a project before a checkpoint, and the project's snapshots. */
  async eraseLearnings(project: Token, before: number): Promise<void> {
    const subjects = names.learningSubjects(project);
    await eraseMessages(this.#ports, names.LEARNINGS_STREAM, subjects, { through: before - 1 });
    await this.#purge(keyed(names.SNAPSHOT_BUCKET, names.PROJECT_KEY + project));
  }

  /** Rewrites files without replaced and purged values: once for any number of sessions. */
  async rewrite(what: keyof typeof REWRITTEN): Promise<void> {
    for (const stream of REWRITTEN[what]) await rewriteStream(this.#ports, stream);
  }

  async #counts(
    session: Token,
    work: (place: Place, kind: ErasedKind) => Promise<number>,
  ): Promise<ErasedCounts> {
    const places = placesOf(this.#layout, session);
    const counts = ERASED_KINDS.map(async (kind) => [kind, await work(places[kind], kind)] as const);
    return Object.fromEntries(await Promise.all(counts)) as Record<ErasedKind, number>;
  }

  /** Returns the last sequence of DISPATCH that was stored before a time: the same number, however late it is asked for. */
  async #lastDispatchBefore(until: string): Promise<number> {
    const { connection, jsm, timeoutMs } = this.#ports;
    const last = await this.lastDispatch();
    const newest = await this.#found(undefined, () => newestMessage(jsm, names.DISPATCH_STREAM, '>'));
    if (newest === undefined || newest.time.getTime() < Date.parse(until)) return last;
    const first = { start_time: until, batch: 1, next_by_subj: '>' };
    const { messages } = await batchFrom({ connection, stream: names.DISPATCH_STREAM, timeoutMs }, first);
    const [next] = messages;
    if (next === undefined)
      throw new ThroughlineError('unavailable', `the replicas of ${names.DISPATCH_STREAM} lag behind`);
    return next.sequence - 1;
  }

  async #last(stream: string): Promise<number> {
    return this.#found(0, async () => (await this.#ports.jsm.streams.info(stream)).state.last_seq);
  }

  /** A session's own stream is purged before it is deleted: the server has shown old messages in one created again soon. */
  async #eraseEvents({ stream, subjects }: Place, through: number): Promise<number> {
    if (names.sessionOfStream(stream) === undefined)
      return eraseMessages(this.#ports, stream, subjects, { through });
    const { streams } = this.#ports.jsm;
    return this.#found(0, async () => {
      // A stream above the mark belongs to the next session of the name.
      if ((await streams.info(stream)).state.last_seq > through) return 0;
      const { purged } = await streams.purge(stream);
      await streams.delete(stream);
      return purged;
    });
  }

  /** Purges keys of a bucket, which does not allow secure deletes: it is rewritten afterwards. */
  async #purge({ stream, subjects: filter }: Place): Promise<number> {
    return this.#found(0, async () => (await this.#ports.jsm.streams.purge(stream, { filter })).purged);
  }

  async #found<T>(none: T, ask: () => Promise<T>): Promise<T> {
    return (await ifExists(ask(), 'erasing a session')) ?? none;
  }
}

function keyed(bucket: string, key: string): Place {
  return { stream: `KV_${bucket}`, subjects: `$KV.${bucket}.${key}` };
}

function placesOf(layout: names.SessionLayout, session: Token): Readonly<Record<ErasedKind, Place>> {
  return {
    events: { stream: names.streamOf(layout, session), subjects: names.sessionSubjects(session) },
    dispatches: { stream: names.DISPATCH_STREAM, subjects: `dispatch.${session}.>` },
    rejected: { stream: names.REJECTED_STREAM, subjects: `rejected.${session}.>` },
    snapshots: keyed(names.SNAPSHOT_BUCKET, session),
    prompts: { stream: names.PROMPTS_STREAM, subjects: names.compiledSubject(session) },
    index: keyed(names.INDEX_BUCKET, session),
  };
}
