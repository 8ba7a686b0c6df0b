import { LRUCache } from 'lru-cache';
import { LEARNING_EVENTS, type LearningEvent } from '../../contracts/learning-events.js';
import {
  LEARNINGS_STREAM,
  LEARNINGS_SUBJECTS,
  learningSubject,
  learningSubjects,
  projectOfSubject,
  type Token,
} from '../../contracts/names.js';
import type { Appended, AppendOptions, ReadRange, ReadResult } from '../../ports/event-log.js';
import type { LearningLog } from '../../ports/learning-log.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import { newestMessage } from '../jetstream/newest-message.js';
import { createLearningsStream, type TopologyOptions } from '../jetstream/topology.js';
import { type EventLogPorts, NatsEventLog } from './nats-event-log.js';

/** Forgetting costs a conflict where the newest event of a project is gone, and the look whether the stream is the same. */
const MAX_READ = 10_000;

interface Read {
  readonly through: number;
  readonly epoch: string | undefined;
}

/**
 * The learnings of all projects in the stream `LEARNINGS`, told apart by their subjects. What is expected is the last
 * sequence among the project's own subjects: every writer names the same filter, so the comparison holds.
 */
export class NatsLearningLog extends NatsEventLog<LearningEvent> implements LearningLog {
  readonly #ports: EventLogPorts;
  /** Up to where this process has read each project, and in which stream: another of the name has another epoch. */
  readonly #read = new LRUCache<Token, Read>({ max: MAX_READ });

  constructor(ports: EventLogPorts, options: TopologyOptions) {
    super(ports, {
      format: LEARNING_EVENTS,
      stream: () => LEARNINGS_STREAM,
      subjects: learningSubjects,
      subject: learningSubject,
      make: (_, highest) => createLearningsStream(ports.jsm, highest, options),
      expecting: (project, sequence) => ({
        expectedLastOfSubjects: { sequence, subjects: learningSubjects(project) },
      }),
      // Message ids count for the whole stream, whatever the subject.
      messageId: (project, id) => `${project}:${id}`,
    });
    this.#ports = ports;
  }

  override async append(
    project: Token,
    event: LearningEvent,
    options: AppendOptions = {},
  ): Promise<Appended> {
    const { expectedSequence = 0 } = options;
    const read = this.#read.get(project);
    if (expectedSequence > 0 && (await this.#isAnother(project, read))) return { outcome: 'conflict' };
    const appended = await super.append(project, event, options);
    if (appended.outcome !== 'conflict' || options.expectedSequence !== read?.through) return appended;
    // What was read last may be gone, by age or by hand, with nothing newer in its place.
    const last = await this.#lastOf(project);
    if (last >= expectedSequence || (await this.#isAnother(project, read))) return appended;
    return this.appendDecided(
      project,
      event,
      { after: expectedSequence },
      { ...options, expectedSequence: last },
    );
  }

  /** What was decided on a stream that is gone must not stand in another, where nothing of what it is about does. */
  async #isAnother(project: Token, read: Read | undefined): Promise<boolean> {
    if (read === undefined || read.epoch === (await this.#epoch(project))) return false;
    this.doubt(project);
    return true;
  }

  override async read(project: Token, range: ReadRange): Promise<ReadResult<LearningEvent>> {
    let read = await super.read(project, range);
    // Never fold what comes from another stream onto what came from the one before: all that is new is rare.
    if (read.through > range.after && read.epoch !== (await this.#epoch(project))) {
      this.doubt(project);
      read = await super.read(project, range);
    }
    this.#read.set(project, { through: read.through, epoch: read.epoch });
    return read;
  }

  async projects(): Promise<Token[]> {
    try {
      const { state } = await this.#ports.jsm.streams.info(LEARNINGS_STREAM, {
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

  /** Of the stream as it is now; `undefined` where there is none. */
  async #epoch(project: Token): Promise<string | undefined> {
    try {
      return String((await this.#ports.jsm.streams.info(LEARNINGS_STREAM)).created);
    } catch (error) {
      if (apiCode(error) === API.streamNotFound) return undefined;
      throw toThroughlineError(error, `asking for the stream of project ${project}`);
    }
  }

  async #lastOf(project: Token): Promise<number> {
    try {
      const { jsm } = this.#ports;
      return (await newestMessage(jsm, LEARNINGS_STREAM, learningSubjects(project)))?.seq ?? 0;
    } catch (error) {
      throw toThroughlineError(error, `reading project ${project}`);
    }
  }
}
