import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PER_SESSION, type SessionLayout, token } from '../../src/contracts/names.js';
import { SETTLED_MS } from '../../src/services/lifecycle/forget-session.js';
import { canonicalState } from '../support/canonical.js';
import { BIN, cleanEnv, cli, type RunningProcess, startCli } from '../support/cli.js';
import { both, everyStep, type Round, results, type Tally, tally } from '../support/faults/every-step.js';
import { REQUESTS, startStepProxy, WRITES } from '../support/faults/step-proxy.js';
import { forgotten, furnished, storedText } from '../support/forgetting.js';
import { layoutEnv } from '../support/layouts.js';
import { plainConnection, startTestNats, type TestNats } from '../support/nats-server.js';
import { folderOfFile, newFolder } from '../support/of-file.js';
import { filesHolding } from '../support/store-files.js';
import { allDealtWith, eventsOf, implemented, type System, soon, startSystem } from '../support/system.js';

/**
 * Jobs that change what is stored, with the process that carries them killed at each of their steps. The command is then
 * repeated, as a user would, and everything acknowledged must be there once.
 */

const SHARDED: SessionLayout = { layout: 'sharded', shards: 2 };
const TIMEOUT_MS = 900_000;

interface Served {
  readonly system: System;
  /** Asks the service, which is killed at its step and started again; then asks again at once. */
  interrupted(ask: () => Promise<unknown>): Promise<void>;
}

/** One round of a job of the services `tools` and `keeper`, which run in a process of their own. */
async function served(
  layout: SessionLayout,
  step: number,
  job: (of: Served) => Promise<Tally>,
): Promise<Round> {
  const env = layoutEnv(layout);
  await using nats = await startTestNats();
  await using proxy = await startStepProxy(nats.url, WRITES);
  await using system = await startSystem({
    nats,
    env,
    only: ['extractor', 'compiler', 'learnings'],
  });
  const serve = (url: string) =>
    startCli(['admin', 'serve', '--only', 'tools', 'keeper', '--nats', url], env);
  await using first = await serve(proxy.url);
  let second: RunningProcess | undefined;
  let made = { steps: 0, killed: false };
  const counted = await job({
    system,
    async interrupted(ask) {
      proxy.killAt(step, () => first.signal('SIGKILL'));
      const asked = ask();
      await Promise.race([first.exited, asked]);
      made = proxy.ended();
      if (!made.killed) return;
      await first.exited;
      second = await serve(nats.url);
      await Promise.all([asked.catch(() => {}), ask()]);
    },
  }).finally(() => second?.stop());
  return { ...made, ...counted };
}

async function forget({ system, interrupted }: Served): Promise<Tally> {
  const { client, ports, nats } = system;
  await furnished(system, 'victim', 'CANARY');
  const neighbours = await results(system, 'neighbour', 2);
  const lifecycle = await ports.openLifecycle();
  const status = () => lifecycle.forgotten(token('victim', 'session'))?.status;
  const late = (async () => {
    await soon(() => expect(status()).toBeDefined());
    // By then every process knows: a result that comes now belongs to the next session of the name.
    await sleep(SETTLED_MS);
    return status() === 'forgetting' ? results(system, 'victim', 2) : [];
  })();
  await interrupted(async () => {
    if (status() !== 'forgotten') await forgotten(system, 'victim');
  });
  const after = [...(await late), ...(await results(system, 'victim', 1))];
  neighbours.push(...(await results(system, 'neighbour', 1)));
  const counted = both(await tally(system, 'victim', after), await tally(system, 'neighbour', neighbours));
  lifecycle.close();
  expect(await storedText(system)).not.toContain('CANARY');
  await soon(async () => expect(await filesHolding(nats.storeDir, 'CANARY')).toEqual([]));
  expect((await client.runs.status({ session: 'victim' })).session.goal).toBeUndefined();
  return counted;
}

async function archive({ system, interrupted }: Served): Promise<Tally> {
  const { client } = system;
  const [session, sequences] = ['victim', await results(system, 'victim', 5)];
  const neighbours = await results(system, 'neighbour', 2);
  await allDealtWith(system.ports);
  const types = async () => (await eventsOf(system, session)).map(({ event }) => event.type);
  await interrupted(async () => {
    await client.tools.sessionArchive({ session });
    await soon(async () => expect(await types()).toEqual(['session.checkpoint']));
  });
  expect((await client.runs.status({ session })).session.archived).toBeDefined();
  await client.tools.sessionReopen({ session });
  sequences.push(...(await results(system, session, 1)));
  return both(await tally(system, session, sequences), await tally(system, 'neighbour', neighbours));
}

/** Imports what another installation has exported: the service is killed, or the command itself. */
async function importing(
  { system, interrupted }: Pick<Served, 'system' | 'interrupted'>,
  source: Exported,
): Promise<Tally> {
  const args = ['session', 'import', source.file];
  let first: Promise<number | null> | undefined;
  await interrupted(async () => {
    // The command is not run twice at once: it goes on by itself when a service answers again.
    await first;
    first = cli(args, { env: { NATS_URL: system.url } }).then(({ code }) => code);
    return first;
  });
  return imported(system, source);
}

/** Checks an imported session after the user has repeated the command until it is one. */
async function imported(system: System, { file, sequences, prompt }: Exported): Promise<Tally> {
  const last = await cli(['session', 'import', file], { env: { NATS_URL: system.url } });
  expect(last.code === 0 || last.stderr.includes('exists already'), last.stderr).toBe(true);
  expect(await promptOf(system)).toBe(prompt);
  // Imported results are older than all of this installation.
  const lowered = sequences.map((sequence) => sequence - Math.max(...sequences));
  return tally(system, SESSION, [...lowered, ...(await results(system, SESSION, 1))]);
}

interface Exported {
  readonly file: string;
  readonly sequences: readonly number[];
  readonly prompt: string;
}
const SESSION = 'one';

async function promptOf({ client }: System): Promise<string> {
  return (await client.compile({ session: SESSION, taskId: '1', taskPrompt: 'Go on' })).prompt;
}

/** An installation with sessions, a backup of it, and a file of one of them. */
async function installation(layout: SessionLayout, folder: string) {
  const nats = await startTestNats();
  const env = layoutEnv(layout);
  const acknowledged = new Map<string, number[]>();
  let prompt = '';
  {
    await using system = await startSystem({ nats, env });
    for (const session of [SESSION, 'two', 'shipped'])
      acknowledged.set(session, await results(system, session, 4));
    await system.client.tools.noteAdd({ session: SESSION, content: 'Name every error' });
    await allDealtWith(system.ports);
    await system.client.tools.sessionArchive({ session: 'shipped' });
    await soon(async () => expect(await eventsOf(system, 'shipped')).toHaveLength(1));
    const { stdout } = await cli(['session', 'export', SESSION], { env: { NATS_URL: nats.url } });
    await writeFile(join(folder, 'one.jsonl'), stdout);
    prompt = await promptOf(system);
  }
  // Acknowledged, and not extracted before the backup.
  await using system = await startSystem({ nats, env, only: [] });
  const states = new Map<string, string>();
  for (const session of acknowledged.keys())
    states.set(session, canonicalState(await eventsOf(system, session)));
  const sequences = [...(acknowledged.get(SESSION) ?? [])];
  const file = { file: join(folder, 'one.jsonl'), sequences, prompt };
  acknowledged.get(SESSION)?.push(...(await results(system, SESSION, 2)));
  const directory = join(folder, 'backup');
  expect(await cli(['admin', 'backup', directory], { env: { NATS_URL: nats.url } })).toMatchObject({
    code: 0,
  });
  return { nats, directory, acknowledged, states, file, layout };
}
type Installation = Awaited<ReturnType<typeof installation>>;

async function killedCommand(args: readonly string[], server: string, step: number, subjects: RegExp) {
  await using proxy = await startStepProxy(server, subjects);
  const env = cleanEnv({ NATS_URL: proxy.url });
  const command = spawn(process.execPath, [BIN, ...args], { env, stdio: 'ignore' });
  proxy.killAt(step, () => command.kill('SIGKILL'));
  const [code] = await once(command, 'exit');
  const ended = proxy.ended();
  expect(code).toBe(ended.killed ? null : 0);
  return ended;
}

/** Checks that a restored installation holds what was backed up, and counts what was only acknowledged then. */
async function restored(
  nats: TestNats,
  layout: SessionLayout,
  { states, acknowledged }: Installation,
  late: number[] = [],
) {
  {
    await using system = await startSystem({ nats, env: layoutEnv(layout), only: [] });
    for (const [session, state] of states)
      expect(canonicalState(await eventsOf(system, session))).toBe(state);
  }
  await using system = await startSystem({ nats, env: layoutEnv(layout), only: ['extractor'] });
  let all = await tally(system, 'late', late);
  for (const [session, sequences] of acknowledged) all = both(all, await tally(system, session, sequences));
  return all;
}

async function backUp(step: number, source: Installation): Promise<Round> {
  await using folder = await newFolder();
  await using nats = await startTestNats();
  const on = (server: TestNats, ...args: string[]) => cli(args, { env: { NATS_URL: server.url } });
  let made = join(folder.path, 'first');
  const ended = await killedCommand(['admin', 'backup', made], source.nats.url, step, REQUESTS);
  if (!existsSync(join(made, 'throughline-backup.json'))) {
    expect(await on(nats, 'admin', 'restore', made)).toMatchObject({ code: 3 });
    made = join(folder.path, 'second');
    expect(await on(source.nats, 'admin', 'backup', made)).toMatchObject({ code: 0 });
  }
  expect(await on(nats, 'admin', 'restore', made)).toMatchObject({ code: 0 });
  return { ...ended, ...(await restored(nats, source.layout, source)) };
}

async function restore(step: number, source: Installation): Promise<Round> {
  await using nats = await startTestNats();
  const args = ['admin', 'restore', source.directory];
  const ended = await killedCommand(args, nats.url, step, WRITES);
  const late = await publishedMeanwhile(nats);
  // On an empty server services would make an installation of their own.
  if (step > 0) await expectNoServices(nats, source.layout);
  // The server may still be finishing the stream that the killed restore was sending.
  await soon(async () => {
    const again = await cli(args, { env: { NATS_URL: nats.url } });
    expect(again.code === 0 || again.stderr.includes('restore into an empty server'), again.stderr).toBe(
      true,
    );
  });
  return { ...ended, ...(await restored(nats, source.layout, source, late)) };
}

/** Services do not start on what is half restored. */
async function expectNoServices(nats: TestNats, layout: SessionLayout) {
  // The server may still be making the first stream that it was asked for.
  const connection = await plainConnection(nats.url);
  const jsm = await connection.jetstreamManager();
  await soon(async () => expect((await jsm.getAccountInfo()).streams).toBeGreaterThan(0));
  await connection.close();
  await startSystem({ nats, env: layoutEnv(layout), only: [] }).then(
    (system) => system.stop(),
    (fault: unknown) => expect(String(fault)).toContain('a backup is being restored'),
  );
}

/** Publishes a result while a restore is cut off: it is refused, or it must not be lost. */
async function publishedMeanwhile(nats: TestNats): Promise<number[]> {
  const connection = await plainConnection(nats.url);
  const body = JSON.stringify(implemented('late', { files_modified: ['src/late.ts'] }));
  const ack = await connection
    .jetstream()
    .publish('dispatch.late.implementer', body)
    .catch(() => undefined);
  await connection.close();
  return ack === undefined ? [] : [ack.seq];
}

describe.each([PER_SESSION, SHARDED])('killed at each step, $layout', async (layout) => {
  const folder = await folderOfFile();
  let source: Installation;
  beforeAll(async () => {
    source = await installation(layout, folder);
  });
  afterAll(() => source.nats.stop());

  const killed = (name: string, run: () => Promise<void>) => it(name, run, TIMEOUT_MS);
  killed('a session that is being archived reopens whole', () =>
    everyStep('archive', layout, 'service', (step) => served(layout, step, archive)),
  );
  killed('a session that is being forgotten is gone, and what came since counts', () =>
    everyStep('forget', layout, 'service', (step) => served(layout, step, forget)),
  );
  killed('an import becomes the session of its file, also if its service is killed', () =>
    everyStep('import', layout, 'service', (step) =>
      served(layout, step, (of) => importing(of, source.file)),
    ),
  );
  killed('an import becomes the session of its file, also if its command is killed', () =>
    everyStep('import (command)', layout, 'command', async (step) => {
      await using system = await startSystem({ env: layoutEnv(layout) });
      const args = ['session', 'import', source.file.file];
      const ended = await killedCommand(args, system.url, step, REQUESTS);
      return { ...ended, ...(await imported(system, source.file)) };
    }),
  );
  killed('a backup that is cut off is refused, and the next one is whole', () =>
    everyStep('backup', layout, 'command', (step) => backUp(step, source)),
  );
  killed('a restore that is cut off starts again, and ends with the same installation', () =>
    everyStep('restore', layout, 'command', (step) => restore(step, source)),
  );
});
