import { describe, expect, it } from 'vitest';
import { sessionStream, type Token } from '../../../src/contracts/names.js';
import { encodeSnapshot } from '../../../src/memory/session/session-snapshot.js';
import { DEFAULT_LIMITS } from '../../../src/memory/session/session-state.js';
import { highestSeen } from '../../../src/nats/jetstream/dispatch-numbers.js';
import { folded } from '../../memory/session/arrivals.js';
import { rejected, stored } from '../../support/builders.js';
import { newSession, type System, startSystem } from '../../support/system.js';

const HIGHEST = 5000;
const upFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

async function append({ ports }: System, session: Token, dispatches: readonly number[]): Promise<void> {
  const appending = dispatches.map((dispatch) =>
    ports.log.append(session, rejected(dispatch), { messageId: `rejected:${dispatch}` }),
  );
  await Promise.all(appending);
}

async function highest({ ports }: System) {
  const { connection } = ports;
  const jsm = await connection.jetstreamManager();
  return highestSeen({ connection, jsm, timeoutMs: 5000 });
}

describe('the highest dispatch that a session has seen', () => {
  it('the highest dispatch that a session has seen is found before many late ones, in the session that changed last of many', async () => {
    await using system = await startSystem({ only: [] });
    const others = upFrom(0, 160).map((index) => newSession(`other${index}`));
    await Promise.all(others.map((each, index) => append(system, each, [10 + index])));
    const session = newSession('late');
    await append(system, session, [HIGHEST]);
    await append(system, session, upFrom(1000, 800));
    expect(await highest(system)).toMatchObject({ sequence: HIGHEST, stream: sessionStream(session) });
  });

  it('the highest dispatch that a session has seen is found in its snapshot, however many late ones come after it', async () => {
    await using system = await startSystem({ only: [] });
    const session = newSession('snapshot');
    const event = rejected(HIGHEST);
    await append(system, session, [HIGHEST]);
    await append(system, session, upFrom(1000, 1300));
    const state = { ...folded(stored([event]), DEFAULT_LIMITS), session };
    await system.ports.snapshots.save(session, { sequence: 1, text: encodeSnapshot(state, event.at) });
    const { at } = event.data.dispatch;
    expect(await highest(system)).toEqual({ sequence: HIGHEST, at, stream: sessionStream(session) });
  });

  it('the highest dispatch that a session has seen may come after its snapshot', async () => {
    await using system = await startSystem({ only: [] });
    const session = newSession('after');
    const state = { ...folded(stored([rejected(7)]), DEFAULT_LIMITS), session };
    await append(system, session, [7, HIGHEST, 6]);
    await system.ports.snapshots.save(session, { sequence: 1, text: encodeSnapshot(state, rejected(7).at) });
    expect(await highest(system)).toMatchObject({ sequence: HIGHEST });
  });
});
