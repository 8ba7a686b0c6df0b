import { LEARNING_EVENTS, type LearningEvent } from '../../contracts/learning-events.js';
import {
  LEARNINGS_STREAM,
  LEARNINGS_SUBJECTS,
  learningSubject,
  learningSubjects,
  projectOfSubject,
  type Token,
} from '../../contracts/names.js';
import type { LearningLog } from '../../engine/ports/session-log.js';
import { ifExists } from '../connection/nats-errors.js';
import { KeyStreams } from '../jetstream/key-streams.js';
import { createLearningsStream, newestProjectSnapshot, type TopologyOptions } from '../jetstream/topology.js';
import type { EventLogPorts } from './nats-event-log.js';
import { NatsSharedLog } from './nats-session-log.js';

export class NatsLearningLog extends NatsSharedLog<LearningEvent> implements LearningLog {
  readonly #ports: EventLogPorts;

  constructor(ports: EventLogPorts, options: TopologyOptions) {
    const { jsm } = ports;
    const nameOf = () => LEARNINGS_STREAM;
    const streams = new KeyStreams(jsm, {
      nameOf,
      make: (_, highest) => createLearningsStream(jsm, highest, options),
      snapshot: (project) => newestProjectSnapshot(jsm, project),
    });
    const layout = {
      format: LEARNING_EVENTS,
      stream: nameOf,
      subjects: learningSubjects,
      subject: learningSubject,
      // Learnings are few, and a decision based on lost ones would never be revised.
      asksForStream: 'always',
    } as const;
    super(ports, layout, streams);
    this.#ports = ports;
  }

  async projects(): Promise<Token[]> {
    const asked = this.#ports.jsm.streams.info(LEARNINGS_STREAM, { subjects_filter: LEARNINGS_SUBJECTS });
    const { state } = (await ifExists(asked, 'listing the projects')) ?? {};
    const projects = Object.keys(state?.subjects ?? {}).flatMap((subject) => projectOfSubject(subject) ?? []);
    return [...new Set(projects)].sort();
  }
}
