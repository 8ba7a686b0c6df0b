import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { storedJson } from '../../contracts/checked.js';
import {
  DEMAND_KINDS,
  type LearningEventOf,
  learningEvidence,
  learningKey,
} from '../../contracts/learning-events.js';
import { proposal } from '../../contracts/learning-requests.js';
import { ordered } from '../../shared/collections.js';
import { ifPossible } from '../../shared/text.js';
import { confidenceOf, isRecurring } from './harvest.js';
import {
  emptyLearnings,
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

const snapshotJson = z.object({
  after_sequence: z.int().nonnegative(),
  created_at: z.string(),
  project: z.string(),
  v: z.literal(LEARNINGS_SNAPSHOT_VERSION),
  last_event: z.int().nonnegative().exactOptional(),
  state: z.object({
    last_event_at: z.string(),
    proposals: z.array(proposal.extend({ id: learningKey })),
    /** In the order of acceptance. */
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
      proposals: [...state.proposals.values()].map((record) => ordered(record, proposal)),
      active: [...state.active.keys()],
      observations: [...state.observations]
        .map(([id, { kind, text, first, evidence }]) => ({ id, kind, text, first, evidence }))
        .sort((a, b) => (a.id < b.id ? -1 : 1)),
    },
  });
}

type DecodedLearnings =
  | { readonly ok: true; readonly state: LearningState }
  | { readonly ok: false; readonly reason: string };

export function decodeLearnings(project: string, snapshot: string): DecodedLearnings {
  const stored = storedJson(snapshotJson, snapshot);
  if (!stored.ok) return stored;
  const { after_sequence: sequence, last_event: lastEvent = sequence, project: owner, state } = stored.value;
  if (owner !== project) return { ok: false, reason: `it belongs to project ${owner}` };
  const proposals = new Map(state.proposals.map((record) => [record.id, record]));
  const active = new Map<string, Learning>();
  for (const [index, id] of state.active.entries()) {
    const accepted = proposals.get(id);
    if (accepted?.status !== 'accepted')
      return { ok: false, reason: `state.active.${index}: ${id} is not a learning` };
    active.set(id, learningOf(accepted));
  }
  const observations = new Map(state.observations.map(({ id, ...observation }) => [id, observation]));
  const lastEventAt = state.last_event_at;
  return { ok: true, state: { project, proposals, active, observations, sequence, lastEvent, lastEventAt } };
}

/** Larger than any state, so anything beyond is damaged. */
const MAX_UNPACKED = 256 * 1024 * 1024;

export function learningsCheckpoint(state: LearningState) {
  return { state: gzipSync(encodeLearnings(state, state.lastEventAt)).toString('base64') };
}

/** Overwrites an erased text. What repeated it is rejected or retracted: a mark is nothing to learn. */
export function withoutText(
  state: LearningState,
  overwrite: <Value>(value: Value) => Value,
  decision: Required<Pick<Proposal, 'decidedAt' | 'decidedBy'>>,
): LearningState {
  const json = overwrite(JSON.parse(encodeLearnings(state, state.lastEventAt)));
  const decoded = decodeLearnings(state.project, JSON.stringify(json));
  if (!decoded.ok) throw new Error(`learnings of ${state.project}: ${decoded.reason}`);
  const { proposals, active } = decoded.state;
  for (const [id, record] of proposals) {
    if (record.content === state.proposals.get(id)?.content) continue;
    const isActive = active.delete(id);
    if (!isActive && record.status !== 'pending') continue;
    proposals.set(id, { ...record, ...decision, status: isActive ? 'retracted' : 'rejected' });
  }
  return decoded.state;
}

export function restoreLearnings(state: LearningState, { data }: LearningEventOf<'checkpoint'>): void {
  const packed = Buffer.from(data.state, 'base64');
  const text = ifPossible(() => gunzipSync(packed, { maxOutputLength: MAX_UNPACKED }).toString());
  const carried = decodeLearnings(state.project, text ?? '');
  if (!carried.ok) return;
  const { proposals, active, observations } = carried.state;
  Object.assign(state, { proposals, active, observations });
}

/**
 * Removes a session from a project's state: its evidence, and the proposals that only it supports. Learnings stay without their
 * source, unless `withLearnings` is set. `changed` counts the proposals and demands that have lost something.
 */
export function withoutSession(
  state: LearningState,
  session: string,
  { withLearnings }: { readonly withLearnings: boolean },
): { readonly state: LearningState; readonly changed: number } {
  const rest: LearningState = { ...emptyLearnings(state.project), lastEventAt: state.lastEventAt };
  let changed = 0;
  const others = (evidence: Proposal['evidence']) => evidence.filter((item) => item.session !== session);
  for (const [id, record] of state.proposals) {
    const { source, status, mergedInto } = record;
    const evidence = others(record.evidence);
    const isSource = source.session === session;
    const hasEvidence = evidence.length < record.evidence.length;
    if (isSource || hasEvidence) changed += 1;
    const isSupported = evidence.length > 0 || (source.session ?? session) !== session;
    const isLearning = status === 'retracted' || (status === 'accepted' && mergedInto === undefined);
    if ((isSource || hasEvidence) && !isSupported && (withLearnings || !isLearning)) continue;
    const isCounted = hasEvidence && status === 'pending' && isRecurring(record);
    rest.proposals.set(id, {
      ...record,
      evidence,
      ...(isSource && { source: {} }),
      // A demand of fewer tasks is less sure.
      ...(isCounted && { confidence: confidenceOf(evidence) }),
    });
  }
  for (const id of state.active.keys()) {
    const accepted = rest.proposals.get(id);
    if (accepted !== undefined) rest.active.set(id, learningOf(accepted));
  }
  for (const [id, observation] of state.observations) {
    const evidence = others(observation.evidence);
    if (evidence.length > 0) rest.observations.set(id, { ...observation, evidence });
    if (evidence.length < observation.evidence.length) changed += 1;
  }
  return { state: rest, changed };
}
