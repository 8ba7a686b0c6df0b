import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { SERVICE_NAMES } from '../../src/contracts/names.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { connectThroughline } from '../../src/index.js';
import { healthEndpoint, startService } from '../../src/nats/micro/micro-service.js';
import { VERSION } from '../../src/version.js';
import { cli, startCli } from '../support/cli.js';
import { plainConnection, startTestNats } from '../support/nats-server.js';
import { NOBODY } from '../support/nobody.js';
import { ofFile } from '../support/of-file.js';
import { soon } from '../support/system.js';

/** What an instance tells of itself where nothing went wrong. */
const WELL = { warnings: 0, errors: 0, lastIncident: null };

const nats = await ofFile(startTestNats());
const env = { NATS_URL: nats.url };

describe('throughline admin health', () => {
  it('health says in a line for each service that it answers, and exits 0', async () => {
    await using _serving = await startCli(['admin', 'serve'], env);
    expect(await cli(['admin', 'health'], { env })).toEqual({
      code: 0,
      stdout: ['extractor', 'prompt-compiler', 'session-tools', 'learnings', 'keeper']
        .map((name) => `ok    service ${name}: 1 instance answers\n`)
        .join(''),
      stderr: '',
    });
  });

  it('health-show tells how services, results, streams and server do', async () => {
    await using serving = await startCli(['admin', 'serve'], env);
    await using client = await connectThroughline({ url: nats.url });
    await client.publishText('demo', 'implementer', 'no result');
    await soon(async () => {
      const health = await client.tools.healthShow({});
      expect(health).toMatchObject({ results: { stored: 1, waiting: 0, rejected: 1 }, missing: [] });
    });
    const { services } = await client.tools.healthShow({});
    expect(services).toHaveLength(5);
    for (const each of services)
      expect(each).toMatchObject({ version: VERSION, host: hostname(), pid: serving.pid, connected: true });
  });

  it('health names what does not answer, asks only the services it is told to, and prints JSON', async () => {
    await using _serving = await startCli(
      ['admin', 'serve', '--only', 'extractor', 'tools', 'learnings', 'keeper'],
      env,
    );
    expect(await cli(['admin', 'health'], { env })).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        'fail  service prompt-compiler: no instance answers\n      → throughline admin serve --only compiler\n',
      ),
    });
    expect(await cli(['admin', 'health', '--only', 'extractor', 'tools'], { env })).toMatchObject({
      code: 0,
    });
    const compiler = await cli(['admin', 'health', '--only', 'compiler', '--json'], { env });
    expect(compiler.code).toBe(1);
    expect(JSON.parse(compiler.stdout)).toEqual([
      expect.objectContaining({ check: 'service prompt-compiler', level: 'fail' }),
    ]);
  });

  it('health skips instances on other machines when it is told to', async () => {
    const connection = await plainConnection(nats.url);
    await startService(connection, {
      name: SERVICE_NAMES.extractor,
      version: VERSION,
      description: 'elsewhere',
      logger: silentLogger,
      endpoints: [healthEndpoint(SERVICE_NAMES.extractor, async () => ({ host: 'elsewhere', ...WELL }))],
    });
    expect(await cli(['admin', 'health', '--only', 'extractor'], { env })).toMatchObject({ code: 0 });
    const here = ['admin', 'health', '--only', 'extractor', '--here'];
    expect(await cli(here, { env })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(`^fail  service extractor: no instance answers on ${hostname()}\n`),
    });
    await using _serving = await startCli(['admin', 'serve', '--only', 'extractor'], env);
    expect(await cli(here, { env })).toMatchObject({
      code: 0,
      stdout: 'ok    service extractor: 1 instance answers\n',
    });
    await connection.close();
  });

  it('health finds a process that hangs when the time for an answer is over', async () => {
    await using serving = await startCli(['admin', 'serve'], env);
    serving.signal('SIGSTOP');
    const hanging = await cli(['admin', 'health'], {
      env: { ...env, THROUGHLINE_TUNING: 'requestTimeoutMs=500' },
    });
    serving.signal('SIGCONT');
    expect(hanging).toMatchObject({ code: 1, stderr: '' });
    expect(hanging.stdout).toMatch(/^fail {2}service extractor: no instance answers\n/);
  });
});

describe('throughline admin serve --check', () => {
  const check = (more: Record<string, string>) => cli(['admin', 'serve', '--check'], { env: { ...more } });

  it('serve --check finds the settings in order without a server', async () => {
    expect(await check({ NATS_URL: `nats://${NOBODY}` })).toEqual({
      code: 0,
      stdout: 'the settings are valid\n',
      stderr: '',
    });
  });

  it('serve --check ends with one line and exit code 2 for a variable that cannot be used', async () => {
    expect(await check({ NATS_CREDS: '/nowhere/me.creds' })).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^throughline: NATS_CREDS\b.*\(config_invalid\)\n$/),
    });
  });
});
