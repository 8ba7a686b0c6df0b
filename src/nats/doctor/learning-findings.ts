import type { JetStreamManager } from 'nats';
import {
  LEARNINGS_STREAM,
  LEARNINGS_SUBJECTS,
  learningSubject,
  projectOfSubject,
  type Token,
  VECTOR_BUCKET,
} from '../../contracts/names.js';
import type { SnapshotStore } from '../../engine/ports/session-log.js';
import { counted } from '../../shared/text.js';
import { ifExists } from '../connection/nats-errors.js';
import { type Finding, ok, warn } from './finding.js';
import { tailFindings } from './session-findings.js';
import { streamFaults } from './stream-findings.js';

/** Finds projects whose events are behind their snapshots. */
export async function projectFindings(
  jsm: JetStreamManager,
  snapshots: Pick<SnapshotStore, 'load'>,
): Promise<Finding[]> {
  const { subjects, last } = await subjectsOf(jsm);
  const logs = [...eventsByProject(subjects)].map(([key, events]) => ({
    ...{ key, events, last },
    stream: LEARNINGS_STREAM,
  }));
  return tailFindings({ jsm, kind: 'project', logs, snapshots, faults: [] });
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
  readonly last: number;
}

/** Counts the events by subject; none if the stream is missing, which is reported elsewhere. */
async function subjectsOf(jsm: JetStreamManager): Promise<Subjects> {
  const asked = jsm.streams.info(LEARNINGS_STREAM, { subjects_filter: LEARNINGS_SUBJECTS });
  const { state } = (await ifExists(asked, 'listing projects')) ?? {};
  return { subjects: state?.subjects ?? {}, last: state?.last_seq ?? 0 };
}

/** Checks the bucket of vectors, which is created with the first vector and only with an embedder. */
export async function vectorFindings(
  jsm: JetStreamManager,
  replicas: number,
  embedder: boolean,
): Promise<Finding[]> {
  const name = `KV_${VECTOR_BUCKET}`;
  const check = `stream ${name}`;
  const info = await ifExists(jsm.streams.info(name), check);
  if (info !== undefined) {
    const faults = streamFaults(info, { name, subjects: `$KV.${VECTOR_BUCKET}.>`, replicas });
    return faults.length > 0
      ? faults
      : [ok(check, `${counted(info.state.messages, 'vector')}, ${counted(info.state.bytes, 'byte')}`)];
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
