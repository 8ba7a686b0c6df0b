import { ThroughlineError } from '../../contracts/errors.js';
import {
  compiledSubject,
  DISPATCH_STREAM,
  INDEX_BUCKET,
  LEARNINGS_STREAM,
  LIFECYCLE_BUCKET,
  learningSubjects,
  PROJECT_KEY,
  PROMPTS_STREAM,
  REJECTED_STREAM,
  type SessionLayout,
  SNAPSHOT_BUCKET,
  sessionOfStream,
  sessionSubjects,
  streamOf,
  TELEMETRY_BUCKET,
  type Token,
} from '../../contracts/names.js';
import {
  ERASED_KINDS,
  type ErasedCounts,
  type ErasedKind,
  type Marks,
  type SessionEraser,
} from '../../engine/ports/session-lifecycle.js';
import { apiCode, ifExists } from '../connection/nats-errors.js';
import { batchFrom } from '../jetstream/direct-get.js';
import { type ErasePorts, eraseMessages, rewriteStream } from '../jetstream/erase-messages.js';
import { newestMessage } from '../jetstream/newest-page.js';
import { newestSnapshot } from '../jetstream/topology.js';

interface Place {
  readonly stream: string;
  readonly subjects: string;
}

/** Deadline of one read, in milliseconds. */
const READ_MS = 5000;
/** Longer than any session name. */
const NOBODY = '-'.repeat(65);

/** Buckets whose values are replaced while a session lives. */
const BUCKETS = [SNAPSHOT_BUCKET, TELEMETRY_BUCKET, INDEX_BUCKET] as const;

export class NatsSessionEraser implements SessionEraser {
  readonly #ports: ErasePorts;
  readonly #layout: SessionLayout;

  constructor(ports: ErasePorts, layout: SessionLayout) {
    this.#ports = ports;
    this.#layout = layout;
  }

  async check(): Promise<void> {
    const { streams } = this.#ports.jsm;
    await this.#found(undefined, async () => {
      await streams.purge(DISPATCH_STREAM, { filter: `dispatch.${NOBODY}` });
      // No such message exists: this only tests the permission.
      await streams.deleteMessage(DISPATCH_STREAM, Number.MAX_SAFE_INTEGER, true).catch((error: unknown) => {
        if (apiCode(error) === undefined) throw error;
      });
    });
  }

  async marks(session: Token, until: string): Promise<Marks> {
    const log = streamOf(this.#layout, session);
    const [dispatches, last, snapshot] = await Promise.all([
      this.#lastDispatchBefore(until),
      this.#last(log),
      // The snapshot may be all that is left of the session.
      this.#found(0, () => newestSnapshot(this.#ports.jsm, session)),
    ]);
    return { dispatches, sequence: Math.max(last, snapshot) };
  }

  async lastResultAt(session: Token): Promise<string | undefined> {
    const { stream, subjects } = placeOf(this.#layout, session, 'dispatches');
    const newest = await this.#found(undefined, () => newestMessage(this.#ports.jsm, stream, subjects));
    return newest?.time.toISOString();
  }

  async count(session: Token): Promise<ErasedCounts> {
    return this.#each((kind) => this.#counted(placeOf(this.#layout, session, kind)));
  }

  async erase(session: Token, marks: Marks): Promise<ErasedCounts> {
    return this.#each((kind) => {
      const { stream, subjects } = placeOf(this.#layout, session, kind);
      if (kind === 'events') return this.#eraseEvents({ stream, subjects }, marks.sequence);
      if (stream.startsWith('KV_')) return this.#purge({ stream, subjects });
      const options = kind === 'dispatches' ? { through: marks.dispatches } : {};
      return eraseMessages(this.#ports, stream, subjects, options);
    });
  }

  async eraseLearnings(project: Token, before: number): Promise<void> {
    await eraseMessages(this.#ports, LEARNINGS_STREAM, learningSubjects(project), { through: before - 1 });
    const subjects = `$KV.${SNAPSHOT_BUCKET}.${PROJECT_KEY}${project}`;
    await this.#purge({ stream: `KV_${SNAPSHOT_BUCKET}`, subjects });
  }

  async rewrite(what: 'prompts' | 'buckets' | 'lifecycle'): Promise<void> {
    if (what === 'prompts')
      return rewriteStream(this.#ports, PROMPTS_STREAM, { prefix: 'compiled.', keeps: 'all' });
    for (const bucket of what === 'buckets' ? BUCKETS : [LIFECYCLE_BUCKET])
      await rewriteStream(this.#ports, `KV_${bucket}`, { prefix: `$KV.${bucket}.`, keeps: 'newest' });
  }

  async #each(of: (kind: ErasedKind) => Promise<number>): Promise<ErasedCounts> {
    const counts = await Promise.all(ERASED_KINDS.map(async (kind) => [kind, await of(kind)] as const));
    return Object.fromEntries(counts) as Record<ErasedKind, number>;
  }

  /** Returns the last sequence of DISPATCH that was stored before a time: the same number, however late it is asked for. */
  async #lastDispatchBefore(until: string): Promise<number> {
    const { connection, jsm } = this.#ports;
    const last = await this.#last(DISPATCH_STREAM);
    const newest = await this.#found(undefined, () => newestMessage(jsm, DISPATCH_STREAM, '>'));
    if (newest === undefined || newest.time.getTime() < Date.parse(until)) return last;
    const first = { start_time: until, batch: 1, next_by_subj: '>' };
    const { messages } = await batchFrom(connection, DISPATCH_STREAM, first, READ_MS);
    const [next] = messages;
    if (next === undefined)
      throw new ThroughlineError('unavailable', `the replicas of ${DISPATCH_STREAM} lag behind`);
    return next.sequence - 1;
  }

  async #last(stream: string): Promise<number> {
    return this.#found(0, async () => (await this.#ports.jsm.streams.info(stream)).state.last_seq);
  }

  async #counted({ stream, subjects }: Place): Promise<number> {
    return this.#found(0, async () => {
      const { state } = await this.#ports.jsm.streams.info(stream, { subjects_filter: subjects });
      return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
    });
  }

  /**
   * A session's own stream is deleted with its files. It is purged first, because the server has shown old messages in a stream
   * that was created again soon after a deletion.
   */
  async #eraseEvents({ stream, subjects }: Place, through: number): Promise<number> {
    if (sessionOfStream(stream) === undefined)
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

function placeOf(layout: SessionLayout, session: Token, kind: ErasedKind): Place {
  const keyed = (bucket: string) => ({ stream: `KV_${bucket}`, subjects: `$KV.${bucket}.${session}` });
  switch (kind) {
    case 'events':
      return { stream: streamOf(layout, session), subjects: sessionSubjects(session) };
    case 'dispatches':
      return { stream: DISPATCH_STREAM, subjects: `dispatch.${session}.>` };
    case 'rejected':
      return { stream: REJECTED_STREAM, subjects: `rejected.${session}.>` };
    case 'snapshots':
      return keyed(SNAPSHOT_BUCKET);
    case 'prompts':
      return { stream: PROMPTS_STREAM, subjects: compiledSubject(session) };
    case 'telemetry':
      return keyed(TELEMETRY_BUCKET);
    case 'index':
      return keyed(INDEX_BUCKET);
  }
}
