import { afterEach, expect, it, vi } from 'vitest';
import { loadOtelSdk, startOtelSdk } from '../../../src/engine/monitoring/otel-sdk.js';
import { silentLogger } from '../../../src/engine/ports/clients.js';

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
