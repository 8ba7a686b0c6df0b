import { trace } from '@opentelemetry/api';
import { afterEach, expect, it, vi } from 'vitest';
import { loadOtelSdk, startOtelSdk } from '../../../src/engine/monitoring/otel-sdk.js';
import { silentLogger } from '../../../src/engine/ports/clients.js';
import { freePort } from '../../../src/nats/server/server-process.js';
import { soon } from '../../support/soon.js';

afterEach(() => vi.unstubAllEnvs());

it('--otel names the package that is not installed, and the command that installs it', async () => {
  const load = async () => {
    throw new Error("Cannot find package '@opentelemetry/sdk-node'");
  };
  const refused = {
    code: 'config_invalid',
    message: expect.stringMatching(
      /^--otel needs .*with "npm install @opentelemetry\/sdk-node" \(Cannot find package/,
    ),
  };
  await expect(startOtelSdk({ env: {}, logger: silentLogger, load })).rejects.toMatchObject(refused);
  // Same call as `serve --check`.
  await expect(loadOtelSdk(load)).rejects.toMatchObject(refused);
});

it('spans that no collector takes are told in the log', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${await freePort('127.0.0.1')}`);
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '500');
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '10');
  const warnings: unknown[][] = [];
  const logger = { ...silentLogger, warn: (...said: unknown[]) => void warnings.push(said) };
  const stop = await startOtelSdk({ env: process.env, logger });
  trace.getTracer('test').startSpan('one').end();
  await soon(() => expect(warnings).not.toEqual([]));
  expect(warnings[0]).toEqual([
    { code: 'unavailable', why: expect.stringMatching(/ECONNREFUSED|timed? ?out/i) },
    expect.stringContaining('OTEL_EXPORTER_OTLP_ENDPOINT'),
  ]);
  await stop();
});
