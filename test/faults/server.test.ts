import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import {
  DISPATCH_STREAM,
  EXTRACTOR_CONSUMER,
  SNAPSHOT_BUCKET,
  sessionStream,
  type Token,
  token,
} from '../../src/contracts/names.js';
import type { StoredSnapshot } from '../../src/engine/ports/session-log.js';
import { decodeSnapshot } from '../../src/memory/session/session-snapshot.js';
import { toThroughlineError } from '../../src/nats/connection/nats-errors.js';
import { startCli } from '../support/cli.js';
import type { Aftermath } from '../support/faults/end-check.js';
import { publishLarge } from '../support/faults/large-bodies.js';
import { type FaultyServer, type FaultyServerOptions, startFaultyServer } from '../support/faults/server.js';
import { type Load, type LoadOptions, underLoad } from '../support/faults/under-load.js';
import { implemented, soon } from '../support/system.js';

const TIMEOUT_MS = 240_000;

/** Defines a test that disturbs a server under load and expects all invariants afterwards. */
function survives(
  what: string,
  happens: (load: Load, server: FaultyServer) => Promise<Pick<Aftermath, 'lost'> | undefined>,
  options: LoadOptions & { readonly server?: FaultyServerOptions; readonly alone?: true } = {},
): void {
  const test = options.alone ? it : it.concurrent;
  test(
    `the services survive ${what}`,
    async () => {
      await using server = await startFaultyServer(options.server);
      await underLoad(server, async (load) => (await happens(load, server)) ?? {}, options);
    },
    TIMEOUT_MS,
  );
}

const jsmOf = ({ ports }: Load) => ports.connection.jetstreamManager();

/** Publishes results of one session and returns the sequence of the last one. */
async function publishTo(load: Load, session: Token, from: number, to: number): Promise<number> {
  for (let index = from; index <= to; index += 1) {
    const body = Buffer.from(JSON.stringify(implemented(`t${index}`)));
    await load.publish({ subject: `dispatch.${session}.implementer`, body, id: `${session}:${index}` });
  }
  return Math.max(...dispatchesOf(load, session));
}

function dispatchesOf({ acknowledged }: Load, session: Token): number[] {
  return [...acknowledged].flatMap(([sequence, { subject }]) =>
    subject.startsWith(`dispatch.${session}.`) ? [sequence] : [],
  );
}

/** Stores messages until the server rejects writes. */
async function filled({ ports }: Load): Promise<void> {
  const jetstream = ports.connection.jetstream();
  await soon(async () => {
    const refused = await jetstream.publish('filler', Buffer.alloc(20_000), { timeout: 1000 }).then(
      () => 'no',
      (error: unknown) => toThroughlineError(error, 'filling').code,
    );
    expect(refused).toBe('store_full');
  });
}

/** Waits until a prompt reflects a dispatch: one request may time out in a fault, the next one does not. */
async function folded({ system }: Load, session: Token, after: number): Promise<void> {
  await soon(() => system.client.compile({ session, taskId: 't1', taskPrompt: 'step', after }));
}

async function snapshotOf({ ports }: Load, session: Token): Promise<StoredSnapshot> {
  return soon(async () => {
    const found = await ports.snapshots.load(session);
    if (found === undefined) throw new Error(`session ${session} has no snapshot yet`);
    return found;
  });
}

survives('a server that is killed and started again, three times', async (_load, server) => {
  for (let time = 0; time < 3; time += 1) {
    await sleep(150);
    await server.kill();
    await server.restart();
  }
  return undefined;
});

survives(
  'a server that stays away for longer than the client waits between attempts',
  async (_load, server) => {
    await server.kill();
    await sleep(2500);
    await server.restart();
    return undefined;
  },
);

survives('the loss of the consumer', async (load) => {
  const jsm = await jsmOf(load);
  await jsm.consumers.delete(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
  await soon(() => jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER));
  await jsm.consumers.delete(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
  return undefined;
});

survives('the loss of all snapshots', async (load) => {
  const session = token('newcomer', 'session');
  await (await jsmOf(load)).streams.delete(`KV_${SNAPSHOT_BUCKET}`);
  // Snapshots are written again with new events; the load itself may have none left by then.
  await folded(load, session, await publishTo(load, session, 1, 15));
  await snapshotOf(load, session);
  return undefined;
});

survives('the loss of a session stream, but for what came after its snapshot', async (load) => {
  const session = token('victim', 'session');
  // A snapshot is written with the tenth event or a later one, and then not before ten more.
  await folded(load, session, await publishTo(load, session, 1, 15));
  await folded(load, session, await publishTo(load, session, 16, 19));
  const before = dispatchesOf(load, session);
  await (await jsmOf(load)).streams.delete(sessionStream(session));
  await folded(load, session, await publishTo(load, session, 20, 40));
  const decoded = decodeSnapshot(session, (await snapshotOf(load, session)).text);
  // A service that has them in memory writes them into the next snapshot.
  const lost = before.filter((each) => !(decoded.ok && decoded.state.dispatches.has(each)));
  expect(lost.length).toBeLessThan(10);
  return { lost: new Map([[session, new Set(lost)]]) };
});

survives('a disk that is full for a while', async (load, server) => {
  const session = token('latecomer', 'session');
  await (await jsmOf(load)).streams.add({ name: 'FILLER', subjects: ['filler'] });
  await server.restart({ maxFileStore: 100_000 });
  await filled(load);
  const published = publishTo(load, session, 1, 1);
  await sleep(2000);
  // A careful publisher is still retrying.
  expect(dispatchesOf(load, session)).toEqual([]);
  await server.restart({});
  await published;
  return undefined;
});

survives(
  'a worker that stands still for longer than the ack wait',
  async (load, server) => {
    await using worker = await startCli(['admin', 'serve', '--only', 'extractor'], {
      NATS_URL: server.url,
      ...load.env,
    });
    worker.signal('SIGSTOP');
    await sleep(2500);
    worker.signal('SIGCONT');
    await load.dealtWith();
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
    return undefined;
  },
  { only: ['compiler', 'tools'] },
);

/** Publishes large bodies to a stopped worker; returns how often the server disconnected a client that reads too slowly. */
async function cutOffs(load: Load, server: FaultyServer, bodies: number): Promise<number> {
  await using worker = await startCli(['admin', 'serve', '--only', 'extractor'], {
    NATS_URL: server.url,
    ...load.env,
  });
  worker.signal('SIGSTOP');
  await publishLarge(load, bodies);
  worker.signal('SIGCONT');
  await load.dealtWith();
  expect(await worker.stop()).toEqual({ code: 0, signal: null });
  return varz.parse(await (await fetch(`${server.monitorUrl}/varz`)).json()).slow_consumers;
}

const varz = z.object({ slow_consumers: z.number() });

survives(
  'large bodies, twenty times what the server keeps for a connection, that wait for a worker',
  async (load, server) => {
    expect(await cutOffs(load, server, 100)).toBe(0);
    return undefined;
  },
  {
    only: ['compiler', 'tools'],
    server: { extraConfig: 'max_pending: 1MB\nmax_payload: 256KB' },
  },
);

survives(
  'large bodies on a server that cuts a connection off when two of them wait for it',
  async (load, server) => {
    // The number of disconnects depends on the speed of both sides.
    await cutOffs(load, server, 15);
    return undefined;
  },
  {
    // Where others take the processor, the worker reads a body more slowly than the server adds the next, and is cut off again.
    alone: true,
    only: ['compiler', 'tools'],
    server: { extraConfig: 'max_pending: 300KB\nmax_payload: 256KB' },
  },
);

survives(
  'a server that shuts down in lame duck mode',
  async (_load, server) => {
    server.signal('SIGUSR2');
    await server.ended();
    await server.restart();
    return undefined;
  },
  { server: { extraConfig: 'lame_duck_grace_period: "500ms"\nlame_duck_duration: "30s"' } },
);

it.concurrent(
  'serve ends within its deadline, by force if needed, when the server does not answer',
  async () => {
    await using server = await startFaultyServer();
    const env = {
      NATS_URL: server.url,
      THROUGHLINE_LOG_LEVEL: 'silent',
      // Without its deadline it would wait too long for answers.
      THROUGHLINE_TUNING: 'shutdownMs=1000 requestTimeoutMs=60000',
    };
    await using running = await startCli(['admin', 'serve'], env);
    await server.freeze();
    const begun = performance.now();
    const { code } = await running.stop();
    expect(code).toBe(1);
    expect(running.stderr()).toContain('could not be stopped properly');
    expect(performance.now() - begun).toBeLessThan(20_000);
  },
  TIMEOUT_MS,
);
