import { expect } from 'vitest';
import { parseDispatchBody } from '../../../src/contracts/dispatch-body.js';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import { parseDispatchSubject, projectOf, type Token } from '../../../src/contracts/names.js';
import type { SnapshotStore, StoredSnapshot } from '../../../src/engine/ports/session-log.js';
import { evolveLearnings } from '../../../src/memory/learnings/evolve-learnings.js';
import { demandsOf } from '../../../src/memory/learnings/harvest.js';
import { encodeLearnings } from '../../../src/memory/learnings/learnings-snapshot.js';
import { emptyLearnings, type LearningState } from '../../../src/memory/learnings/learnings-state.js';
import type { NatsPorts } from '../../../src/nats/open-nats.js';
import type { ThroughlineClient } from '../../../src/sdk/throughline-client.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { allDealtWith } from '../system.js';
import { projectReader } from './clean-run.js';
import { dispatchesOn } from './nats-run.js';

/** A decision whose caller was told that it counts. */
export interface Told {
  readonly project: Token;
  readonly id: string;
  readonly status: 'accepted' | 'rejected';
}

export interface LearningsAftermath {
  readonly ports: NatsPorts;
  readonly client: ThroughlineClient;
  /** Since the stream was removed, where it was. */
  readonly told: readonly Told[];
  /** The newest snapshots of a stream that was removed: all that is left of it. Default: the stream is whole. */
  readonly removed?: ReadonlyMap<Token, StoredSnapshot>;
}

/**
 * The check that every fault of learnings ends with: every project, folded from its first event, from its newest
 * snapshot, and as the service answers, is the same; what reviewers demanded is what a clean run makes of the same
 * reviews; every decision whose caller was told of it stands; and nothing has been proposed twice.
 */
export async function expectLearningsEnd(
  { ports, client, told }: LearningsAftermath,
  projects: readonly Token[],
  { removed }: Pick<LearningsAftermath, 'removed'> = {},
): Promise<void> {
  await allDealtWith(ports);
  for (const project of projects) {
    const replayed = await folded(ports, project, await beginning(project, removed?.get(project)));
    const stored = await folded(ports, project, ports.learningSnapshots);
    expect(bytes(stored), `project ${project}, from its snapshot`).toBe(bytes(replayed));
    const { proposals } = await client.proposals.list({ project, status: 'all', limit: 1000 });
    const entries = [...replayed.proposals.values()];
    expect(proposals, `project ${project}, as the service answers`).toEqual(entries.reverse());
    const decisions = told.filter((each) => each.project === project);
    expect(decisions.length).toBeGreaterThan(0);
    expect(decisions.map(({ id }) => [id, replayed.proposals.get(id)?.status])).toEqual(
      decisions.map(({ id, status }) => [id, status]),
    );
    if (removed === undefined) await expectAllLearned(ports, project, replayed);
    await expectProposedOnce(ports, project);
  }
}

async function expectAllLearned(ports: NatsPorts, project: Token, state: LearningState): Promise<void> {
  const clean = await cleanObservations(ports, project);
  const inOrder = ({ observations }: LearningState) =>
    [...observations].sort(([one], [other]) => (one < other ? -1 : 1));
  expect(inOrder(state), `project ${project}, against a clean run`).toEqual(inOrder(clean));
  const byRule = [...state.proposals.values()].filter(({ method }) => method !== 'manual');
  const due = [...clean.observations].flatMap(([id, { evidence }]) => (evidence.length >= 2 ? [id] : []));
  expect(due.length).toBeGreaterThan(0);
  expect(byRule.map(({ id }) => id).sort()).toEqual(due.sort());
}

/** What the reviews of a project demand, each taken once, in the order in which they were published. */
async function cleanObservations(ports: NatsPorts, project: Token): Promise<LearningState> {
  const state = emptyLearnings(project);
  for (const { subject, body, sequence, at } of await dispatchesOn(ports)) {
    const { session } = parseDispatchSubject(subject);
    const parsed = parseDispatchBody(body, 'reviewer', body.length);
    if (!session?.startsWith(`${project}-`) || !parsed.ok || parsed.value.role !== 'reviewer') continue;
    const { result } = parsed.value;
    const data = { session, dispatch: sequence, task: result.task_id, demands: demandsOf(project, result) };
    evolveLearnings(state, { sequence, event: { v: EVENT_VERSION, type: 'observed', at, data } });
  }
  return state;
}

async function expectProposedOnce({ learnings }: NatsPorts, project: Token): Promise<void> {
  const { events } = await learnings.read(project, { after: 0 });
  const proposed = events.flatMap(({ event }) => (event.type === 'proposed' ? [event.data.proposal] : []));
  expect(proposed).toHaveLength(new Set(proposed).size);
}

async function folded(ports: NatsPorts, project: Token, snapshots: SnapshotStore): Promise<LearningState> {
  const { learnings: log } = ports;
  const reader = projectReader(log, snapshots);
  return (await reader.load(project)).folded.state;
}

async function beginning(project: Token, left: StoredSnapshot | undefined): Promise<SnapshotStore> {
  const store = new MemorySnapshotStore();
  if (left !== undefined) await store.save(projectOf(project), left);
  return store;
}

function bytes(state: LearningState): string {
  return encodeLearnings(state, '');
}
