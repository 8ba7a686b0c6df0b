import type { StoredMsg } from 'nats';
import { readEvent } from '../../contracts/event.js';
import {
  compiledSubject,
  DISPATCH_STREAM,
  INDEX_BUCKET,
  LEARNING_SNAPSHOT_BUCKET,
  LEARNINGS_STREAM,
  LIFECYCLE_BUCKET,
  learningSubjects,
  PROMPTS_STREAM,
  REJECTED_STREAM,
  type SessionLayout,
  SNAPSHOT_BUCKET,
  sessionOfStream,
  sessionSubjects,
  streamOf,
  TELEMETRY_BUCKET,
  type Token,
  VECTOR_BUCKET,
  vectorKey,
} from '../../contracts/names.js';
import { newestNamed, SESSION_EVENTS } from '../../contracts/session-events.js';
import {
  ERASED_KINDS,
  type ErasedCounts,
  type ErasedKind,
  type LastMoved,
  type LearningEraser,
  type Marks,
  type RewrittenKind,
  type SessionEraser,
} from '../../engine/ports/session-lifecycle.js';
import { apiCode, ifExists } from '../connection/nats-errors.js';
import { readStream } from '../jetstream/direct-get.js';
import { eraseMessages, type RewritePorts, rewriteStream } from '../jetstream/erase-messages.js';
import { newestMessage } from '../jetstream/newest-page.js';
import { newestSnapshot } from '../jetstream/topology.js';

interface Place {
  readonly stream: string;
  readonly subjects: string;
}

/** Deadline of one batch of events, in milliseconds. */
const READ_MS = 5000;
/** Longer than any session name. */
const NOBODY = '-'.repeat(65);

const REWRITTEN: Readonly<Record<RewrittenKind, readonly string[]>> = {
  snapshots: [SNAPSHOT_BUCKET],
  prompts: [],
  telemetry: [TELEMETRY_BUCKET],
  index: [INDEX_BUCKET],
  learnings: [LEARNING_SNAPSHOT_BUCKET, VECTOR_BUCKET],
  lifecycle: [LIFECYCLE_BUCKET],
};

export class NatsSessionEraser implements SessionEraser, LearningEraser {
  readonly #ports: RewritePorts;
  readonly #layout: SessionLayout;

  constructor(ports: RewritePorts, layout: SessionLayout) {
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

  async marks(session: Token): Promise<Marks> {
    const log = streamOf(this.#layout, session);
    const [dispatches, last, snapshot] = await Promise.all([
      this.#last(DISPATCH_STREAM),
      this.#last(log),
      // The snapshot may be all that is left of the session.
      this.#found(0, () => newestSnapshot(this.#ports.jsm, session)),
    ]);
    return { dispatches, sequence: Math.max(last, snapshot) };
  }

  async newestNamed(session: Token, after: number): Promise<number> {
    const { stream, subjects } = placeOf(this.#layout, session, 'events');
    const { connection } = this.#ports;
    const messages = await readStream(connection, stream, subjects, { from: after + 1 }, READ_MS);
    const named = messages.map(({ data, foreign }) => {
      const stored = foreign === undefined ? readEvent(SESSION_EVENTS, session, data) : undefined;
      return (stored && newestNamed(stored.event)?.sequence) ?? 0;
    });
    return named.reduce((newest, each) => Math.max(newest, each), 0);
  }

  async lastMoved(session: Token): Promise<LastMoved> {
    const [event, dispatch] = await Promise.all([
      this.#newest(placeOf(this.#layout, session, 'events')),
      this.#newest(placeOf(this.#layout, session, 'dispatches')),
    ]);
    return {
      sequence: event?.seq ?? 0,
      ...(event && { at: event.time.toISOString() }),
      ...(dispatch && { dispatchedAt: dispatch.time.toISOString() }),
    };
  }

  async count(session: Token): Promise<ErasedCounts> {
    return this.#each((kind) => this.#counted(placeOf(this.#layout, session, kind)));
  }

  async erase(
    session: Token,
    { dispatches }: Pick<Marks, 'dispatches'>,
    onErased: (kind: ErasedKind, messages: number) => void = () => {},
  ): Promise<ErasedCounts> {
    return this.#each((kind) => {
      const place = placeOf(this.#layout, session, kind);
      const told = (messages: number) => onErased(kind, messages);
      if (kind === 'events') return this.#eraseEvents(place, told);
      if (place.stream.startsWith('KV_')) return this.#purge(place, told);
      const options = { ...(kind === 'dispatches' && { through: dispatches }), onErased: told };
      return eraseMessages(this.#ports, place.stream, place.subjects, options);
    });
  }

  async eraseLearnings(
    project: Token,
    { before, vectors }: { readonly before: number; readonly vectors: readonly string[] },
  ): Promise<void> {
    await eraseMessages(this.#ports, LEARNINGS_STREAM, learningSubjects(project), { through: before - 1 });
    const bucket = (name: string, key: string) => ({ stream: `KV_${name}`, subjects: `$KV.${name}.${key}` });
    await this.#purge(bucket(LEARNING_SNAPSHOT_BUCKET, project));
    for (const id of vectors) await this.#purge(bucket(VECTOR_BUCKET, vectorKey(project, id as Token)));
  }

  async rewrite(kinds: readonly RewrittenKind[]): Promise<void> {
    for (const kind of kinds) {
      if (kind === 'prompts')
        await rewriteStream(this.#ports, PROMPTS_STREAM, { prefix: 'compiled.', keeps: 'all' });
      for (const bucket of REWRITTEN[kind])
        await rewriteStream(this.#ports, `KV_${bucket}`, { prefix: `$KV.${bucket}.`, keeps: 'newest' });
    }
  }

  async #each(of: (kind: ErasedKind) => Promise<number>): Promise<ErasedCounts> {
    const counts = await Promise.all(ERASED_KINDS.map(async (kind) => [kind, await of(kind)] as const));
    return Object.fromEntries(counts) as Record<ErasedKind, number>;
  }

  #newest({ stream, subjects }: Place): Promise<StoredMsg | undefined> {
    return this.#found(undefined, () => newestMessage(this.#ports.jsm, stream, subjects));
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

  #eraseEvents(place: Place, told: (messages: number) => void): Promise<number> {
    if (sessionOfStream(place.stream) !== undefined) return this.#removeStream(place, told);
    return eraseMessages(this.#ports, place.stream, place.subjects, { onErased: told });
  }

  /**
   * Deletes a session's own stream with its files. It is purged first, because the server has shown old messages in a stream
   * that was created again soon after a deletion.
   */
  async #removeStream({ stream }: Place, told: (messages: number) => void): Promise<number> {
    const { streams } = this.#ports.jsm;
    return this.#found(0, async () => {
      const { purged } = await streams.purge(stream);
      told(purged);
      await streams.delete(stream);
      return purged;
    });
  }

  /** Purges keys of a bucket, which does not allow secure deletes: it is rewritten afterwards. */
  async #purge(
    { stream, subjects: filter }: Place,
    told: (messages: number) => void = () => {},
  ): Promise<number> {
    return this.#found(0, async () => {
      const { purged } = await this.#ports.jsm.streams.purge(stream, { filter });
      told(purged);
      return purged;
    });
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
