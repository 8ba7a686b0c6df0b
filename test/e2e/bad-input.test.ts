import type { NatsConnection } from 'nats';
import { describe, expect, it } from 'vitest';
import { isToken, token } from '../../src/contracts/names.js';
import { encodeSnapshot } from '../../src/memory/session/session-snapshot.js';
import {
  BAD_BODIES,
  type Contract,
  mutated,
  ODD_TOKENS,
  ofSession,
  REQUESTS,
  spoiled,
} from '../support/bad-input.js';
import { startCli } from '../support/cli.js';
import { ofFile } from '../support/of-file.js';
import * as fc from '../support/properties.js';
import { sessionsOf } from '../support/session-names.js';
import {
  allDealtWith,
  eventsOf,
  freshState,
  openPorts,
  publishWork,
  startSystem,
} from '../support/system.js';

/** A session that is attacked by its own users, and one that has nothing to do with it. */
const ATTACKED = 'attacked';
const BYSTANDER = 'bystander';
const AT = '2026-05-01T00:00:00.000Z';

let before: { state: string; events: number };
/** Sessions that a request rightly named: these may exist now. */
const named = new Set([ATTACKED, BYSTANDER, 'ok', ...ODD_TOKENS]);
let answered = 0;

const system = await ofFile(startSystem({ only: [] }));
const attacker = await ofFile(openPorts(system));
// In a process of its own: what ends it would be seen.
const services = await ofFile(
  startCli(['admin', 'serve'], {
    NATS_URL: system.url,
    THROUGHLINE_LOG_LEVEL: 'info',
  }),
);
await furnish(BYSTANDER);
await furnish(ATTACKED);
before = await bystander();

async function furnish(session: string): Promise<void> {
  const { client } = system;
  for (const content of ['one', 'two', 'three']) await client.tools.taskAdd({ session, content });
  await client.tools.noteAdd({ session, content: 'note' });
  await client.tools.inboxAdd({ session, content: 'message' });
  await client.tools.iterationStart({ session });
  await publishWork(client, session, '1', { intent_id: 'INT-1' });
  await allDealtWith(system.ports);
}

async function bystander() {
  const state = encodeSnapshot(await freshState(system, BYSTANDER), AT);
  return { state, events: (await eventsOf(system, BYSTANDER)).length };
}

function note(body: Uint8Array): void {
  try {
    const { session } = Object(JSON.parse(Buffer.from(body).toString()));
    if (isToken(session)) named.add(session);
  } catch {
    // Not JSON: it names no session.
  }
}

/** Sends a request and checks that its answer is one of ours: a reply, or an error with a stable code. */
async function ask(connection: NatsConnection, { subject }: Contract, body: Uint8Array): Promise<void> {
  note(body);
  const message = await connection.request(subject, body, { timeout: 30_000 });
  const reply = message.json<{ error?: { code: string; message: string } }>();
  const status = message.headers?.get('Nats-Service-Error-Code');
  const shown = `${subject} ${Buffer.from(body.subarray(0, 300)).toString()}`;
  expect(reply.error?.code, shown).not.toBe('internal');
  expect(Number(status || 200) < 500, shown).toBe(true);
  expect(typeof reply.error?.code, shown).toBe(status ? 'string' : 'undefined');
  answered += 1;
}

/** Sends all of them, some at a time. */
async function askAll(contract: Contract, bodies: Iterable<Uint8Array>): Promise<void> {
  const { connection } = attacker;
  let waiting: Promise<void>[] = [];
  for (const body of bodies) {
    waiting.push(ask(connection, contract, body));
    if (waiting.length < 64) continue;
    await Promise.all(waiting);
    waiting = [];
  }
  await Promise.all(waiting);
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value) ?? 'null');

describe('every contract', () => {
  it.each(REQUESTS)('every service answers every kind of wrong request: $name', async (contract) => {
    const good = ofSession(contract, ATTACKED, contract.good);
    const values = [...spoiled(contract.good)].map((each) => ofSession(contract, ATTACKED, Object(each)));
    const some = values.filter((_, index) => index % 5 === 0).map(json);
    const random = fc.sample(mutated(good), { numRuns: 40, seed: 8 }).map(json);
    await askAll(contract, [...BAD_BODIES.map(([, body]) => body), ...some, ...random]);
  });
});

describe('after all of it', () => {
  it('the services still run and answer after all bad input, and log no fault of their own', async () => {
    expect(answered).toBeGreaterThan(1200);
    await system.client.tools.sessionRestart({ session: ATTACKED });
    const { note } = await system.client.tools.noteAdd({ session: ATTACKED, content: 'still here' });
    expect(note.content).toBe('still here');
    await expect(Promise.race([services.exited, Promise.resolve('running')])).resolves.toBe('running');
    const levels = services
      .stderr()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(levels.filter(({ level }) => level >= 50)).toEqual([]);
  });

  it('bad input leaves no unreadable event in the attacked session', async () => {
    const { skipped } = await system.ports.log.read(token(ATTACKED, 'session'), { after: 0 });
    expect(skipped).toBe(0);
  });

  it('bad input touches no other session', async () => {
    expect(await bystander()).toEqual(before);
    const others = (await sessionsOf(system.ports.log)).filter((name) => !named.has(name));
    expect(others).toEqual([]);
  });
});
