import { isDeepStrictEqual } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { storedJson } from '../../contracts/checked.js';
import {
  DEMAND_KINDS,
  type LearningEventOf,
  learningEvidence,
  learningKey,
} from '../../contracts/learning-events.js';
import { proposal, retirement } from '../../contracts/learning-requests.js';
import { ordered } from '../../shared/collections.js';
import {
  type Entry,
  type Learning,
  type LearningState,
  learningOf,
  type Proposal,
} from './learnings-state.js';

/**
 * The format of a project's snapshot:
 * `{"after_sequence":N,"created_at":…,"project":…,"v":1,"last_event"?:M,"state":{…}}` on one line, in that order.
 * `last_event` is present if it is below N.
 */
const LEARNINGS_SNAPSHOT_VERSION = 1;

const entry = z.object({
  proposal: proposal.extend({ id: learningKey }),
  /** Present for a learning, with fields that differ from its proposal. */
  learning: z
    .object({
      type: proposal.shape.type.exactOptional(),
      content: z.string().exactOptional(),
      tags: z.array(z.string()).exactOptional(),
      evidence: z.array(learningEvidence).exactOptional(),
    })
    .exactOptional(),
  retired: retirement.exactOptional(),
});

const snapshotJson = z.object({
  after_sequence: z.int().nonnegative(),
  created_at: z.string(),
  project: z.string(),
  v: z.literal(LEARNINGS_SNAPSHOT_VERSION),
  last_event: z.int().nonnegative().exactOptional(),
  state: z.object({
    last_event_at: z.string(),
    entries: z.array(entry),
    /** In the order of activation. */
    active: z.array(learningKey),
    observations: z.array(
      z.object({
        id: learningKey,
        kind: z.enum(DEMAND_KINDS),
        text: z.string(),
        first: z.int().positive(),
        evidence: z.array(learningEvidence),
      }),
    ),
  }),
});

export function encodeLearnings(state: LearningState, createdAt: string): string {
  return JSON.stringify({
    after_sequence: state.sequence,
    created_at: createdAt,
    project: state.project,
    v: LEARNINGS_SNAPSHOT_VERSION,
    ...(state.lastEvent < state.sequence && { last_event: state.lastEvent }),
    state: {
      last_event_at: state.lastEventAt,
      entries: [...state.entries.values()].map(entryToJson),
      active: [...state.active.keys()],
      observations: [...state.observations]
        .map(([id, { kind, text, first, evidence }]) => ({ id, kind, text, first, evidence }))
        .sort((a, b) => (a.id < b.id ? -1 : 1)),
    },
  });
}

function entryToJson({ proposal: proposed, learning, retired }: Entry) {
  return {
    proposal: ordered(proposed, proposal),
    ...(learning && { learning: changedWords(proposed, learning) }),
    ...(retired && { retired }),
  };
}

function changedWords(proposed: Proposal, { type, content, tags, evidence }: Learning) {
  return {
    ...(type !== proposed.type && { type }),
    ...(content !== proposed.content && { content }),
    ...(!isDeepStrictEqual(tags, proposed.tags) && { tags }),
    ...(!isDeepStrictEqual(evidence, proposed.evidence) && { evidence }),
  };
}

type DecodedLearnings =
  | { readonly ok: true; readonly state: LearningState }
  | { readonly ok: false; readonly reason: string };

/** Returns the reason for a damaged snapshot or another version. */
export function decodeLearnings(project: string, snapshot: string): DecodedLearnings {
  const stored = storedJson(snapshotJson, snapshot);
  if (!stored.ok) return stored;
  const { after_sequence: sequence, last_event: lastEvent = sequence, project: owner, state } = stored.value;
  if (owner !== project) return { ok: false, reason: `it belongs to project ${owner}` };
  const entries = new Map(state.entries.map((entry) => [entry.proposal.id, entryFromJson(entry)]));
  const active = new Map<string, Learning>();
  for (const [index, id] of state.active.entries()) {
    const learning = entries.get(id)?.learning;
    if (learning === undefined)
      return { ok: false, reason: `state.active.${index}: ${id} is not a learning` };
    active.set(id, learning);
  }
  const observations = new Map(state.observations.map(({ id, ...observation }) => [id, observation]));
  const lastEventAt = state.last_event_at;
  return { ok: true, state: { project, entries, active, observations, sequence, lastEvent, lastEventAt } };
}

function entryFromJson({ proposal: proposed, learning, retired }: z.output<typeof entry>): Entry {
  return {
    proposal: proposed,
    ...(learning && {
      learning: { ...learningOf(proposed, proposed.decidedAt ?? proposed.extractedAt), ...learning },
    }),
    ...(retired && { retired }),
  };
}

/** Carries a project's whole state and replaces all events before it, which may be removed. */
type Checkpoint = LearningEventOf<'checkpoint'>;

/** Larger than any state, so anything beyond is damaged. */
const MAX_UNPACKED = 256 * 1024 * 1024;

export function learningsCheckpoint(
  state: LearningState,
  change = <Value>(json: Value) => json,
): Checkpoint['data'] {
  const text = JSON.stringify(change(JSON.parse(encodeLearnings(state, state.lastEventAt))));
  return { state: gzipSync(text).toString('base64') };
}

/** Replaces the state with the checkpoint's. A damaged checkpoint is ignored. */
export function restoreLearnings(state: LearningState, { data }: Checkpoint): void {
  let text: string;
  try {
    text = gunzipSync(Buffer.from(data.state, 'base64'), { maxOutputLength: MAX_UNPACKED }).toString();
  } catch {
    return;
  }
  const carried = decodeLearnings(state.project, text);
  if (!carried.ok) return;
  const { entries, active, observations } = carried.state;
  Object.assign(state, { entries, active, observations });
}
