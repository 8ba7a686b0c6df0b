import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { codeOf, type ThroughlineError } from '../../src/contracts/errors.js';
import type { StoredEvent } from '../../src/contracts/session-events.js';
import { SNAPSHOT_VERSION } from '../../src/memory/session/session-snapshot.js';
import { cli } from '../support/cli.js';
import { allDealtWith, implemented, publishWire, startSystem, systemOfFile } from '../support/system.js';

/** Session files that someone has changed: command and service refuse what our own code cannot have written. */

const system = await systemOfFile();
const as = (...args: string[]) => cli(args, { env: { NATS_URL: system.url } });

type Json = Record<string, unknown>;
type State = Json & {
  last: Json;
  last_event_at: string;
  window: { counted: Json; recent: Json[] };
};

let folder: string;
let head: string;
let checkpoint: StoredEvent;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'throughline-foreign-'));
  const { client, ports } = system;
  const session = 'source';
  for (const content of ['one', 'two']) await client.tools.taskAdd({ session, content });
  for (const task of ['1', '2', '3']) await publishWire(client, 'implementer', session, implemented(task));
  await allDealtWith(ports);
  await client.tools.sessionArchive({ session });
  const [first = '', second = ''] = (await as('session', 'export', session)).stdout.split('\n');
  head = first;
  checkpoint = JSON.parse(second);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The checkpoint with what it carries in another form, and its event with other fields. */
function changed(pack: (state: State) => string, more: Json = {}): StoredEvent {
  const { event } = checkpoint;
  if (event.type !== 'session.checkpoint') throw new Error('no checkpoint');
  const { state } = JSON.parse(gunzipSync(Buffer.from(event.data.state, 'base64')).toString());
  const text = pack(state);
  return {
    ...checkpoint,
    event: { ...event, ...more, data: { ...event.data, state: gzipSync(text).toString('base64') } },
  };
}

const withState = (change: (state: State) => void) =>
  changed((state) => {
    change(state);
    return JSON.stringify({ v: SNAPSHOT_VERSION, state });
  });

async function fileOf(stored: StoredEvent): Promise<string> {
  const path = join(folder, 'changed.jsonl');
  const lines = `${head}\n${JSON.stringify(stored)}\n`;
  const sha256 = createHash('sha256').update(lines).digest('hex');
  await writeFile(path, `${lines}${JSON.stringify({ events: 1, sha256 })}\n`);
  return path;
}

/** What the service answers to the page that holds the event. */
async function imported(session: string, stored: StoredEvent): Promise<ThroughlineError | undefined> {
  const of = { session, file: 'f'.repeat(64), dispatches: 100 };
  let state = '';
  while (state !== 'importing') ({ state } = await system.client.requestTool('session-import', of));
  return system.client.requestTool('session-import', { ...of, events: [{ ...stored, sequence: 1 }] }).then(
    () => undefined,
    (error: ThroughlineError) => error,
  );
}

const FAR = Number.MAX_SAFE_INTEGER;
const steps = (numbers: readonly number[]) => Buffer.from(numbers).toString('base64');
/** 250 MB in some 250 KB: as many parts as it takes, each packed alone. */
const BOMB = (): StoredEvent => {
  const { event } = checkpoint;
  if (event.type !== 'session.checkpoint') throw new Error('no checkpoint');
  const part = gzipSync(' '.repeat(1_000_000));
  const state = Buffer.concat(Array<Buffer>(250).fill(part)).toString('base64');
  return { ...checkpoint, event: { ...event, data: { ...event.data, state } } };
};

it.each<[string, string, () => StoredEvent]>([
  [
    'claims',
    'state.window.counted',
    () =>
      withState(({ window }) =>
        Object.assign(window.counted, { steps: steps([1, 1, 1, ...Array(40).fill(1)]) }),
      ),
  ],
  [
    'nothing',
    'steps of counted dispatches',
    () => withState(({ window }) => Object.assign(window.counted, { steps: 'A'.repeat(200_000) })),
  ],
  [
    'notanumber',
    'steps of counted dispatches',
    () =>
      withState(({ window }) =>
        Object.assign(window.counted, { steps: steps([...Array(148).fill(0x80), 0]) }),
      ),
  ],
  [
    'paths',
    'state.past',
    () =>
      withState((state) => {
        // Each path is the one before and a character more: a few KB stand for gigabytes.
        const count = 5000;
        const shared = Array.from({ length: count }, () => [0xff, 0x7f, 1, 0]).flat();
        const numbers = steps([(count % 128) | 0x80, Math.floor(count / 128), ...shared]);
        Object.assign(state, {
          past: { total: 1, words: '', tasks: [], paths: 'ab\n'.repeat(count), numbers },
        });
      }),
  ],
  ['last', 'state.last.task', () => withState(({ last }) => Object.assign(last, { task: FAR }))],
  ['behind', 'state.last.task', () => withState(({ last }) => Object.assign(last, { task: 1 }))],
  [
    'source',
    'state.window.recent.0.sequence',
    () => withState(({ window }) => Object.assign(window.recent[0] ?? {}, { sequence: 99 })),
  ],
  [
    'future',
    'state.last_event_at',
    () => withState((state) => Object.assign(state, { last_event_at: '9999-01-01T00:00:00.000Z' })),
  ],
  [
    'date',
    'at: is 9999',
    () => changed((state) => JSON.stringify({ v: SNAPSHOT_VERSION, state }), { at: '9999-01-01T00:00:00Z' }),
  ],
  ['bomb', 'at most 16777216 bytes', BOMB],
  [
    'faults',
    'state.facts.0.',
    () => withState((state) => Object.assign(state, { facts: Array(1_000_000).fill({}) })),
  ],
  [
    'task',
    'TAS-9007199254740991',
    () => ({
      sequence: 1,
      event: {
        ...{ v: 1, type: 'task.added', at: '2026-01-01T00:00:00.000Z' },
        data: {
          ...{
            task: `TAS-${FAR}`,
            content: 'x',
            status: 'remaining',
            priority: 2,
            depends_on: [],
            iteration: 0,
          },
        },
      },
    }),
  ],
])(
  'a session file is refused by command and service, with field and value, where it has: %s',
  async (name, field, make) => {
    const stored = make();
    const path = await fileOf(stored);
    const { code, stderr } = await as('session', 'import', path, '--as', `cli-${name}`);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(field) });
    expect(stderr).toContain('(schema_invalid)');
    const refused = await imported(`service-${name}`, stored);
    expect(refused).toMatchObject({ code: 'schema_invalid', message: expect.stringContaining(field) });
  },
);

it('while a file that unpacks to much is refused, other sessions are answered', async () => {
  const bomb = BOMB();
  let longest = 0;
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const began = performance.now();
      await system.client.tools.taskList({ session: 'other' });
      longest = Math.max(longest, performance.now() - began);
      // Below the limit of requests a second.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  for (let at = 0; at < 3; at += 1)
    expect(await imported(`many-${at}`, bomb)).toMatchObject({ code: 'schema_invalid' });
  isOver = true;
  await asking;
  expect(longest).toBeLessThan(1000);
});

it('the file as it was exported is imported, and later results count', async () => {
  const path = await fileOf(withState(() => {}));
  expect(await as('session', 'import', path, '--as', 'copy')).toMatchObject({ code: 0 });
  await system.client.tools.sessionReopen({ session: 'copy' });
  const { sequence } = await publishWire(system.client, 'implementer', 'copy', implemented('4'));
  await system.client.compile({ session: 'copy', taskId: '5', taskPrompt: 'next', after: sequence });
  const { session } = await system.client.tools.sessionShow({ session: 'copy' });
  expect(session.dispatches).toMatchObject({ implementer: 4 });
});

it('the file of a session whose agents name tasks and times of their own is imported', async () => {
  const session = 'own-names';
  await publishWire(system.client, 'implementer', session, implemented('BUILD-17642083050001'));
  await system.client.appendTrace(session, [
    {
      ...{ id: 'STEP-20261127015345', intent_id: 'INT-1', action_type: 'TOOL_EXECUTION' },
      ...{ timestamp: '9999-01-01T00:00:00.000Z', result: { status: 'SUCCESS', output_summary: 'done' } },
    },
  ]);
  await allDealtWith(system.ports);
  const path = join(folder, 'own.jsonl');
  await writeFile(path, (await as('session', 'export', session)).stdout);
  expect(await as('session', 'import', path, '--as', 'own-copy')).toMatchObject({ code: 0 });
});

it('a file is imported although two processes take it at the same time', async () => {
  await using other = await startSystem({ nats: system.nats, only: ['tools'] });
  const stored = { ...checkpoint, sequence: 1 };
  const names = Array.from({ length: 12 }, (_, at) => `twice-${at}`);
  const refused = await Promise.all(
    names.map(async (session) => {
      const of = { session, file: 'e'.repeat(64), dispatches: 100 };
      const atOnce = (more: object) =>
        Promise.allSettled(
          Array.from({ length: 6 }, () => other.client.requestTool('session-import', { ...of, ...more })),
        );
      const ended = [...(await atOnce({})), ...(await atOnce({ events: [stored] }))];
      return ended.flatMap((each) => (each.status === 'rejected' ? [codeOf(each.reason)] : []));
    }),
  );
  expect(refused.flat()).toEqual([]);
});
