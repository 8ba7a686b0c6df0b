import type { JetStreamManager } from 'nats';
import {
  LEARNINGS_STREAM,
  LEARNINGS_SUBJECTS,
  learningSubject,
  projectOfSubject,
  type Token,
  VECTOR_BUCKET,
} from '../../contracts/names.js';
import type { LearningLog } from '../../engine/ports/session-log.js';
import type { SnapshotStore } from '../../engine/ports/snapshot-store.js';
import { counted } from '../../shared/text.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import { type Finding, ok, warn } from './finding.js';
import { streamFaults } from './stream-findings.js';
import { tailFindings } from './tail-findings.js';

interface ProjectsExamined {
  readonly jsm: JetStreamManager;
  readonly learnings: Pick<LearningLog, 'read'>;
  readonly snapshots: Pick<SnapshotStore, 'load'>;
  /** Events after which a snapshot is written. */
  readonly snapshotEvery: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The projects whose snapshots are far behind. */
export async function projectFindings(examined: ProjectsExamined): Promise<Finding[]> {
  const { jsm, learnings, snapshots, snapshotEvery, now } = examined;
  const { subjects, last } = await subjectsOf(jsm);
  const logs = [...eventsByProject(subjects)].map(([key, events]) => ({
    key,
    events,
    stream: LEARNINGS_STREAM,
    last,
    // Projects share a stream: only the events themselves tell how many there are.
    eventsAfter: async (after: number) => {
      const tail = await learnings.read(key, { after });
      return tail.events.length + tail.skipped;
    },
  }));
  // The service folds it for the answer, and writes what it has folded.
  const writes = (project: Token) => `throughline learning ls --project ${project}`;
  return tailFindings({ jsm, kind: 'project', logs, snapshots, snapshotEvery, now, writes, faults: [] });
}

function eventsByProject(subjects: Record<string, number>): Map<Token, number> {
  const projects = new Map<Token, number>();
  for (const [subject, events] of Object.entries(subjects)) {
    const project = projectOfSubject(subject);
    if (project !== undefined) projects.set(project, (projects.get(project) ?? 0) + events);
  }
  return projects;
}

interface Subjects {
  readonly subjects: Record<string, number>;
  /** Last sequence of the stream. */
  readonly last: number;
}

/** How many events each subject has; none where the stream is missing, which has been reported. */
async function subjectsOf(jsm: JetStreamManager): Promise<Subjects> {
  try {
    const { state } = await jsm.streams.info(LEARNINGS_STREAM, { subjects_filter: LEARNINGS_SUBJECTS });
    return { subjects: state.subjects ?? {}, last: state.last_seq };
  } catch (error) {
    if (apiCode(error) === API.streamNotFound) return { subjects: {}, last: 0 };
    throw toThroughlineError(error, 'listing projects');
  }
}

/** The bucket of vectors: made with the first one, and only where there is an embedder. */
export async function vectorFindings(
  jsm: JetStreamManager,
  replicas: number,
  embedder: boolean,
): Promise<Finding[]> {
  const name = `KV_${VECTOR_BUCKET}`;
  const check = `stream ${name}`;
  try {
    const info = await jsm.streams.info(name);
    const faults = streamFaults(info, { name, subjects: `$KV.${VECTOR_BUCKET}.>`, replicas });
    return faults.length > 0
      ? faults
      : [ok(check, `${counted(info.state.messages, 'vector')}, ${counted(info.state.bytes, 'byte')}`)];
  } catch (error) {
    if (apiCode(error) !== API.streamNotFound) throw toThroughlineError(error, check);
  }
  if (!embedder) return [];
  const { subjects } = await subjectsOf(jsm);
  const accepted = [...eventsByProject(subjects).keys()].map((project) =>
    learningSubject(project, 'accepted'),
  );
  if (!accepted.some((subject) => subjects[subject] !== undefined)) {
    return [ok(check, 'not there yet: the first learning creates it')];
  }
  const fix =
    'start the service again, with the same THROUGHLINE_EMBED_…: throughline admin serve --only learnings';
  return [warn(check, 'is missing, though there are learnings: they are found by words alone', fix)];
}
