import type { JetStreamManager, NatsConnection } from 'nats';
import { type LearningEvent, parseLearningEvent } from '../contracts/learning-events.js';
import {
  LEARNINGS_STREAM,
  LEARNINGS_SUBJECTS,
  learningSubject,
  learningSubjects,
  projectOfSubject,
  type Token,
} from '../contracts/names.js';
import { ThroughlineError } from '../errors.js';
import type { Appended, AppendOptions, ReadRange, ReadResult, Unwatch } from '../ports/event-log.js';
import type { LearningLog } from '../ports/learning-log.js';
import type { AckedPublisher, PubOutcome } from './acked-publisher.js';
import { readStream } from './direct-get.js';
import { API, apiCode, toThroughlineError } from './errors.js';
import { eventsOf } from './stored-events.js';
import { ensureLearningsStream, type TopologyOptions } from './topology.js';

/**
 * The learnings of all projects in the stream `LEARNINGS`, told apart by their subjects. What is expected is the last
 * sequence among the project's own subjects: every writer names the same filter, so the comparison holds.
 *
 * Whether the stream is there is asked, not found out by publishing or reading: whoever watches takes the answer "no
 * responders" away from a missing stream, and only a deadline would tell.
 */
export class NatsLearningLog implements LearningLog {
  readonly #connection: NatsConnection;
  readonly #jsm: JetStreamManager;
  readonly #publisher: AckedPublisher;
  readonly #options: TopologyOptions & { readonly timeoutMs: number };
  /** Whether the stream was there when last seen. */
  #known = false;

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

  async append(project: Token, event: LearningEvent, options: AppendOptions = {}): Promise<Appended> {
    if (!this.#known) await this.#ensureStream();
    let published = await this.#publish(project, event, options);
    if (published.outcome === 'no_stream') {
      await this.#ensureStream();
      published = await this.#publish(project, event, options);
    }
    switch (published.outcome) {
      case 'stored':
        return { outcome: 'appended', sequence: published.sequence, duplicate: published.duplicate };
      case 'wrong_sequence':
        return { outcome: 'conflict' };
      case 'no_stream':
        throw new ThroughlineError('unavailable', `no stream takes the learnings of project ${project}`);
    }
  }

  async read(project: Token, { after, through }: ReadRange): Promise<ReadResult<LearningEvent>> {
    if (!(await this.#exists())) return { events: [], through: after, skipped: 0 };
    const range = { from: after + 1, ...(through !== undefined && { through }) };
    const messages = await readStream(
      this.#connection,
      LEARNINGS_STREAM,
      learningSubjects(project),
      range,
      this.#options.timeoutMs,
    ).catch((error: unknown) => {
      this.#known = false;
      throw toThroughlineError(error, `reading the learnings of project ${project}`);
    });
    return eventsOf(messages, after, parseLearningEvent);
  }

  watch(project: Token, onEvent: () => void): Unwatch {
    const subscription = this.#connection.subscribe(learningSubjects(project), { callback: () => onEvent() });
    return () => subscription.unsubscribe();
  }

  async projects(): Promise<Token[]> {
    try {
      const { state } = await this.#jsm.streams.info(LEARNINGS_STREAM, {
        subjects_filter: LEARNINGS_SUBJECTS,
      });
      const projects = Object.keys(state.subjects ?? {}).flatMap(
        (subject) => projectOfSubject(subject) ?? [],
      );
      return [...new Set(projects)].sort();
    } catch (error) {
      if (apiCode(error) === API.streamNotFound) return [];
      throw toThroughlineError(error, 'listing the projects');
    }
  }

  async #publish(project: Token, event: LearningEvent, options: AppendOptions): Promise<PubOutcome> {
    const { messageId, expectedSequence } = options;
    try {
      return await this.#publisher.publish(learningSubject(project, event.type), JSON.stringify(event), {
        // Message ids count for the whole stream, whatever the subject.
        ...(messageId !== undefined && { messageId: `${project}:${messageId}` }),
        ...(expectedSequence !== undefined && {
          expectedLastOfSubjects: { sequence: expectedSequence, subjects: learningSubjects(project) },
        }),
      });
    } catch (error) {
      // The stream may have been deleted under a watcher: the next append makes sure of it.
      this.#known = false;
      throw error;
    }
  }

  async #exists(): Promise<boolean> {
    if (this.#known) return true;
    try {
      await this.#jsm.streams.info(LEARNINGS_STREAM);
      this.#known = true;
      return true;
    } catch (error) {
      if (apiCode(error) === API.streamNotFound) return false;
      throw toThroughlineError(error, 'reading learnings');
    }
  }

  async #ensureStream(): Promise<void> {
    try {
      await ensureLearningsStream(this.#jsm, this.#options);
      this.#known = true;
    } catch (error) {
      throw toThroughlineError(error, `making the stream ${LEARNINGS_STREAM}`);
    }
  }
}
