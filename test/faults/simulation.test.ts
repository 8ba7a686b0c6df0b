import { expect, it } from 'vitest';
import type { SessionEvent } from '../../src/contracts/session-events.js';
import { countedEvents } from '../support/faults/clean-run.js';
import { expectCleanEnd } from '../support/faults/end-check.js';
import { seeds, withSeed } from '../support/faults/settings.js';
import { type Simulated, simulate } from '../support/faults/simulation.js';
import { sessionsOf } from '../support/session-names.js';
import { runs } from '../support/tier.js';

const RUNS = seeds(runs(150), 5000);

it(`the simulation ends clean on a network that loses, delays, doubles and reorders: ${RUNS.length} seeds from ${RUNS[0]}`, async () => {
  let retried = 0;
  let doubled = 0;
  let again = 0;
  for (const seed of RUNS) {
    await withSeed('simulation', seed, async () => {
      const end = await simulate(seed);
      await expectCleanEnd(end);
      await expectCommandsOnce(end);
      retried += end.extractors.reduce((sum, { stats }) => sum + stats.retried, 0);
      doubled += await repeatedEvents(end);
      again += repeatedResults(end);
    });
  }
  // A run without faults would prove nothing.
  if (RUNS.length > 100) expect(Math.min(retried, again)).toBeGreaterThan(RUNS.length);
  expect(doubled).toBe(0);
}, 900_000);

it('the simulation gives the same run for the same seed', async () => {
  const [one, other] = [await simulate(7), await simulate(7)];
  expect(await eventsOf(one)).toEqual(await eventsOf(other));
});

/** Acknowledged commands are in the log once, unanswered ones at most once; no id and no claim is assigned twice. */
async function expectCommandsOnce(end: Simulated): Promise<void> {
  const events = [];
  for (const session of await sessionsOf(end.log)) {
    for (const event of await countedEvents(end.log, session)) events.push({ session, event });
  }
  for (const { session, content, outcome, task, agent } of end.commands) {
    const here = events.filter((each) => each.session === session).map(({ event }) => event);
    const effects = here.filter((event) =>
      agent === undefined
        ? event.type === 'task.added' && event.data.content === content
        : event.type === 'task.claimed' && event.data.agent === agent,
    );
    if (outcome === 'done') expect(effects.length, content).toBe(agent && task === undefined ? 0 : 1);
    else if (outcome === 'unknown') expect(effects.length, content).toBeLessThan(2);
    else throw outcome;
  }
  for (const kind of ['task.added', 'task.claimed'] as const) {
    const ids = events.flatMap(({ session, event }) =>
      event.type === kind ? [`${session} ${event.data.task}`] : [],
    );
    expect(new Set(ids).size, kind).toBe(ids.length);
  }
}

/** Counts results that were stored again under other dispatches. */
function repeatedResults({ acknowledged }: Simulated): number {
  const results = [...acknowledged.values()].map(({ id, result = id }) => result);
  return results.length - new Set(results).size;
}

/** Counts duplicate events of a dispatch in a log. */
async function repeatedEvents(end: Simulated): Promise<number> {
  const dispatches = (await eventsOf(end)).flatMap(({ event }) => ('id' in event ? [] : [dispatchOf(event)]));
  return dispatches.length - new Set(dispatches).size;
}

function dispatchOf(event: SessionEvent): number | undefined {
  return 'dispatch' in event.data ? event.data.dispatch.sequence : undefined;
}

async function eventsOf({ log }: Simulated) {
  const all = [];
  for (const session of await sessionsOf(log)) {
    for (const { event } of (await log.read(session, { after: 0 })).events) all.push({ session, event });
  }
  return all;
}
