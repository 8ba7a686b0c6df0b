import type { JetStreamManager, NatsConnection } from 'nats';
import {
  sessionOfStream,
  sessionStream,
  sessionSubject,
  sessionSubjects,
  type Token,
} from '../contracts/names.js';
import { parseSessionEvent, type SessionEvent } from '../contracts/session-events.js';
import { ThroughlineError } from '../errors.js';
import type { Appended, AppendOptions, ReadRange, ReadResult, Unwatch } from '../ports/event-log.js';
import type { SessionLog } from '../ports/session-log.js';
import type { AckedPublisher, PubOutcome } from './acked-publisher.js';
import { readStream } from './direct-get.js';
import { API, apiCode, toThroughlineError } from './errors.js';
import { eventsOf } from './stored-events.js';
import { createSessionStream, type TopologyOptions } from './topology.js';

const MAX_KNOWN = 100_000;

/**
 * A session's log as the stream `SESSION_<session>`, made on the first append.
 *
 * Whether the stream is there is asked once for each session, not found out by publishing or reading: somebody who
 * watches `session.>`, as `caughtUp` and `nats sub` do, takes the answer "no responders" away from a missing stream,
 * and only a deadline would tell.
 */
export class NatsSessionLog implements SessionLog {
  readonly #connection: NatsConnection;
  readonly #jsm: JetStreamManager;
  readonly #publisher: AckedPublisher;
  readonly #options: TopologyOptions & { readonly timeoutMs: number };
  /** Streams being made: one request each, however many appends wait for it. */
  readonly #creating = new Map<Token, Promise<void>>();
  /** Sessions whose stream was there when last seen. */
  readonly #known = new Set<Token>();

  constructor(
    connection: NatsConnection,
    jsm: JetStreamManager,
    publisher: AckedPublisher,
    options: TopologyOptions & { readonly timeoutMs: number },
  ) {
    this.#connection = connection;
    this.#jsm = jsm;
    this.#publisher = publisher;
    this.#options = options;
  }

  async append(session: Token, event: SessionEvent, options: AppendOptions = {}): Promise<Appended> {
    const body = JSON.stringify(event);
    if (!this.#known.has(session)) await this.#createStream(session);
    let published = await this.#publish(session, event, body, options);
    if (published.outcome === 'no_stream') {
      await this.#createStream(session);
      published = await this.#publish(session, event, body, options);
    }
    switch (published.outcome) {
      case 'stored':
        return { outcome: 'appended', sequence: published.sequence, duplicate: published.duplicate };
      case 'wrong_sequence':
        return { outcome: 'conflict' };
      case 'no_stream':
        throw new ThroughlineError(
          'unavailable',
          `stream ${sessionStream(session)} was made, but takes no events`,
        );
    }
  }

  async read(session: Token, { after, through }: ReadRange): Promise<ReadResult<SessionEvent>> {
    if (!(await this.#exists(session))) return { events: [], through: after, skipped: 0 };
    const range = through === undefined ? { from: after + 1 } : { from: after + 1, through };
    const messages = await readStream(
      this.#connection,
      sessionStream(session),
      sessionSubjects(session),
      range,
      this.#options.timeoutMs,
    ).catch((error: unknown) => {
      this.#known.delete(session);
      throw toThroughlineError(error, `reading session ${session}`);
    });
    return eventsOf(messages, after, parseSessionEvent);
  }

  watch(session: Token, onEvent: () => void): Unwatch {
    const subscription = this.#connection.subscribe(sessionSubjects(session), { callback: () => onEvent() });
    return () => subscription.unsubscribe();
  }

  async sessions(): Promise<Token[]> {
    const sessions: Token[] = [];
    try {
      for await (const name of this.#jsm.streams.names('session.>')) {
        const session = sessionOfStream(name);
        if (session !== undefined) sessions.push(session);
      }
    } catch (error) {
      throw toThroughlineError(error, 'listing sessions');
    }
    return sessions.sort();
  }

  async #publish(
    session: Token,
    event: SessionEvent,
    body: string,
    options: AppendOptions,
  ): Promise<PubOutcome> {
    try {
      return await this.#publisher.publish(sessionSubject(session, event.type), body, {
        ...(options.messageId !== undefined && { messageId: options.messageId }),
        ...(options.expectedSequence !== undefined && { expectedLastSequence: options.expectedSequence }),
      });
    } catch (error) {
      // The stream may have been deleted under a watcher: the next append makes sure of it.
      this.#known.delete(session);
      throw error;
    }
  }

  async #exists(session: Token): Promise<boolean> {
    if (this.#known.has(session)) return true;
    try {
      await this.#jsm.streams.info(sessionStream(session));
      this.#remember(session);
      return true;
    } catch (error) {
      if (apiCode(error) === API.streamNotFound) return false;
      throw toThroughlineError(error, `reading session ${session}`);
    }
  }

  #remember(session: Token): void {
    // Forgetting costs one request for each session that is met again.
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.add(session);
  }

  #createStream(session: Token): Promise<void> {
    const running = this.#creating.get(session);
    if (running !== undefined) return running;
    const creating = createSessionStream(this.#jsm, session, this.#options)
      .then(() => this.#remember(session))
      .catch((error: unknown) => {
        throw toThroughlineError(error, `making the stream of session ${session}`);
      })
      .finally(() => this.#creating.delete(session));
    this.#creating.set(session, creating);
    return creating;
  }
}
