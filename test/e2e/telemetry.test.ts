import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Token } from '../../src/contracts/names.js';
import { cli, type RunningProcess, startCli } from '../support/cli.js';
import { newSession, publishWork, type System, soon, startSystem } from '../support/system.js';

/** Each compiler is a process of its own. */
describe('telemetry of compilers that come and go', () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem({ only: ['extractor', 'tools'] });
  });
  afterAll(() => system.stop());

  const env = () => ({ NATS_URL: system.url });
  const compiler = (): Promise<RunningProcess> => startCli(['admin', 'serve', '--only', 'compiler'], env());
  const stored = async (session: Token) => (await system.ports.telemetry.load(session))?.compiles;

  async function recorded(): Promise<Token> {
    const session = newSession('counted');
    await publishWork(system.client, session, '1', {}, { wait: true });
    return session;
  }

  async function compile(session: Token, times: number): Promise<void> {
    for (let each = 0; each < times; each += 1) {
      await system.client.compile({ session, taskId: '2', taskPrompt: 'x' });
    }
  }

  async function telemetry(session: Token) {
    const { code, stdout, stderr } = await cli(['session', 'telemetry', session, '--json'], {
      env: env(),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  }

  it('telemetry of a compiler that is killed lacks nothing but what came after its last write', async () => {
    const session = await recorded();
    const killed = await compiler();
    await compile(session, 3);
    await soon(async () => expect(await stored(session)).toBe(3));
    await compile(session, 2);
    killed.signal('SIGKILL');
    await killed.exited;
    const { compiles } = await telemetry(session);
    expect([3, 4, 5]).toContain(compiles);
    expect(compiles).toBe(await stored(session));
  });
});
