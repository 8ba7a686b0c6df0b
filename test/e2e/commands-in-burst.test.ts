import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { token } from '../../src/contracts/names.js';
import { startCli } from '../support/cli.js';
import { countedEvents } from '../support/faults/clean-run.js';
import {
  allDealtWith,
  eventsOf,
  freshState,
  implemented,
  newSession,
  startSystem,
} from '../support/system.js';

/** So many results wait all the time. */
const WAITING = 1000;
const AT_ONCE = 6;
const WAVES = 4;

it('commands of three processes are carried out while results of their session come in without a pause, each id and claim once', async () => {
  await using system = await startSystem({ only: [] });
  const env = { NATS_URL: system.url };
  await using _one = await startCli(['admin', 'serve', '--only', 'tools'], env);
  await using _two = await startCli(['admin', 'serve', '--only', 'tools'], env);
  await using _three = await startCli(['admin', 'serve', '--only', 'tools'], env);
  const session = newSession('burst');
  const { tools } = system.client;
  await using extractor = await startSystem({ nats: system.nats, only: ['extractor'] });
  const body = Buffer.from(JSON.stringify(implemented('1')));
  let published = 0;
  let ended = false;
  const backlog = async () => {
    const { waiting, inHand } = await system.ports.source.backlog();
    return waiting + inHand;
  };
  const flood = async () => {
    while (!ended) {
      const some = Array.from({ length: 500 }, () =>
        system.ports.source.publish(`dispatch.${session}.implementer`, body),
      );
      published += (await Promise.all(some)).length;
      while (!ended && (await backlog()) > WAITING) await turn();
    }
  };
  const flooding = flood();
  const added: string[] = [];
  const claimed: string[] = [];
  for (let wave = 0; wave < WAVES; wave += 1) {
    const numbers = Array.from({ length: AT_ONCE }, (_, index) => wave * AT_ONCE + index);
    const tasks = await Promise.all(
      numbers.map((number) => tools.taskAdd({ session, content: `task ${number}` })),
    );
    const claims = await Promise.all(
      numbers.map((number) => tools.taskNext({ session, claim: `agent ${number}` })),
    );
    added.push(...tasks.map(({ task }) => task?.id ?? 'none'));
    claimed.push(...claims.map(({ task }) => task?.id ?? 'none'));
  }
  ended = true;
  await flooding;
  const ids = Array.from({ length: WAVES * AT_ONCE }, (_, index) => `TAS-${index + 1}`);
  expect(added.toSorted(byNumber)).toEqual(ids);
  expect(claimed.toSorted(byNumber)).toEqual(ids);

  await allDealtWith(extractor.ports);
  // What another command came before is in the log, and was decided again: nothing else says so.
  const stored = await eventsOf(system, session);
  const counted = await countedEvents(system.ports.log, token(session, 'session'));
  expect(stored.some(({ decidedOn }) => decidedOn !== undefined)).toBe(true);
  for (const type of ['task.added', 'task.claimed']) {
    expect(
      counted.filter((event) => event.type === type),
      type,
    ).toHaveLength(ids.length);
  }
  const { board, dispatches } = await freshState(system, session);
  expect([...board.tasks.keys()].toSorted(byNumber)).toEqual(ids);
  expect(dispatches.current().counts.implementer).toBe(published);
});

function byNumber(one: string, other: string): number {
  return Number(one.slice(4)) - Number(other.slice(4));
}
