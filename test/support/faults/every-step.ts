import { expect } from 'vitest';
import type { SessionLayout } from '../../../src/contracts/names.js';
import { factsOf } from '../../../src/memory/session/session-state.js';
import { allDealtWith, freshState, implemented, publishWire, type System } from '../system.js';
import { SETTINGS, withSeed } from './settings.js';

/** Rounds at once: most of their time services wait for a lease to expire, and commands compute. */
const LANES = { service: 4, command: 2 };

export interface Tally {
  readonly acknowledged: number;
  readonly lost: number;
  readonly doubled: number;
}
export interface Round extends Tally {
  readonly steps: number;
  readonly killed: boolean;
}

/** Kills are so many steps apart when all other tests run too. */
const QUICK = 6;

/** Runs a job with a kill at step 0, 1, 2 … until it ends before its kill; in the quick version not at every step. */
export async function everyStep(
  job: string,
  layout: SessionLayout,
  killed: keyof typeof LANES,
  round: (step: number) => Promise<Round>,
) {
  const rounds: Round[] = [];
  const end = SETTINGS.rounds === undefined ? Number.POSITIVE_INFINITY : SETTINGS.seed + SETTINGS.rounds;
  const by = SETTINGS.long || SETTINGS.rounds !== undefined ? 1 : QUICK;
  let seed = SETTINGS.seed;
  let isOver = false;
  const lanes = Array.from({ length: LANES[killed] }, async () => {
    while (!isOver && seed < end) {
      const mine = seed;
      seed += by;
      try {
        await withSeed('kill-rounds', mine, async () => {
          const made = await round(mine - 1);
          rounds.push(made);
          if (!made.killed) isOver = true;
          expect(made).toMatchObject({ lost: 0, doubled: 0 });
        });
      } catch (fault) {
        isOver = true;
        throw fault;
      }
    }
  });
  const failed = (await Promise.allSettled(lanes)).find(({ status }) => status === 'rejected');
  const sum = (of: (round: Round) => number) => rounds.reduce((all, each) => all + of(each), 0);
  const steps = Math.max(...rounds.map((each) => each.steps));
  const kills = rounds.filter(({ killed }) => killed).length;
  const counts = [sum((each) => each.acknowledged), sum((each) => each.lost), sum((each) => each.doubled)];
  const columns = ['job', 'layout', 'steps', 'kills', 'acknowledged', 'lost', 'doubled'];
  const row = [job, layout.layout, steps, kills, ...counts];
  console.log(columns.map((column, at) => `${column} ${row[at]}`).join(', '));
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Publishes results, each of a task of its own; their sequences are those of the PubAcks. */
export async function results({ client }: System, session: string, count: number): Promise<number[]> {
  const sequences: number[] = [];
  for (let at = 0; at < count; at += 1) {
    tasks += 1;
    const result = implemented(`t${tasks}`, { files_modified: [`src/${tasks}.ts`] });
    sequences.push((await publishWire(client, 'implementer', session, result)).sequence);
  }
  return sequences;
}
let tasks = 0;

/** Compares what a session has counted with the results that were acknowledged. */
export async function tally(
  system: System,
  session: string,
  acknowledged: readonly number[],
): Promise<Tally> {
  await allDealtWith(system.ports);
  const state = await freshState(system, session);
  const known = new Set(
    factsOf(state)
      .all()
      .map(({ sourceSequence }) => sourceSequence),
  );
  const lost = acknowledged.filter((sequence) => !known.has(sequence)).length;
  const { implementer } = state.dispatches.current().counts;
  return { acknowledged: acknowledged.length, lost, doubled: implementer - (acknowledged.length - lost) };
}

export function both(one: Tally, other: Tally): Tally {
  return {
    acknowledged: one.acknowledged + other.acknowledged,
    lost: one.lost + other.lost,
    doubled: one.doubled + other.doubled,
  };
}
