import { expect, it } from 'vitest';
import { DISPATCH_STREAM, dispatchSubject, type Token } from '../../src/contracts/names.js';
import {
  eventsOf,
  freshState,
  implemented,
  newSession,
  remembered,
  soon,
  systemOfFile,
} from '../support/system.js';

/** The same result, published again: once from the publisher to the fact. */

const system = await systemOfFile();

const RESULT = implemented('1', { files_modified: ['src/a.ts'], intent_id: 'parser' });

function publish(session: Token, result: object, messageId?: string): Promise<{ sequence: number }> {
  const body = Buffer.from(JSON.stringify(result));
  return system.ports.source.publish(dispatchSubject(session, 'implementer'), body, messageId);
}

/** What a session remembers once a dispatch has been folded, as a process that has just started reads it. */
async function afterDispatch(session: Token, after: number, published: readonly number[]) {
  await system.client.compile({ session, taskId: '2', taskPrompt: 'next', after });
  const state = await freshState(system, session);
  const { ledgers, traces } = state.dispatches.current();
  return { ...remembered(state, published), ledgers, traces };
}

it('a result_id counts once under any message ids, and after answers for each of its dispatches', async () => {
  const session = newSession('named');
  const named = { ...RESULT, result_id: 'run 7' };
  const first = await publish(session, named, 'a');
  const once = await afterDispatch(session, first.sequence, [first.sequence]);
  expect(once.counts).toMatchObject({ implementer: 1, rejected: 0 });
  for (const messageId of ['b', undefined]) {
    const again = await publish(session, named, messageId);
    expect(again.sequence).toBeGreaterThan(first.sequence);
    expect(await afterDispatch(session, again.sequence, [first.sequence])).toEqual(once);
  }
  expect(await eventsOf(system, session)).toHaveLength(3);

  const other = newSession('other');
  const elsewhere = await publish(other, named, 'c');
  expect(await afterDispatch(other, elsewhere.sequence, [elsewhere.sequence])).toMatchObject({
    counts: once.counts,
    facts: once.facts,
  });
});

it('a message id counts once where the body names no result, also when the server has forgotten it', async () => {
  const jsm = await system.ports.connection.jetstreamManager();
  // The shortest that the server takes: 100 ms.
  await jsm.streams.update(DISPATCH_STREAM, { duplicate_window: 100_000_000 });
  const session = newSession('forgotten');
  const first = await publish(session, RESULT, 'mine');
  const once = await afterDispatch(session, first.sequence, [first.sequence]);
  const again = await soon(async () => {
    const published = await publish(session, RESULT, 'mine');
    expect(published.sequence).toBeGreaterThan(first.sequence);
    return published;
  });
  expect(await afterDispatch(session, again.sequence, [first.sequence])).toEqual(once);
  expect(once.counts.implementer).toBe(1);
});
