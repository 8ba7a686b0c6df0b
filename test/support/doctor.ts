import { expect } from 'vitest';
import { z } from 'zod';
import type { Expected } from '../../src/nats/doctor/examine.js';
import type { Finding } from '../../src/nats/doctor/server-findings.js';
import { VERSION } from '../../src/version.js';
import { cli } from './cli.js';

const findings = z.array(
  z.strictObject({
    check: z.string(),
    level: z.enum(['ok', 'warn', 'fail']),
    message: z.string(),
    fix: z.string().exactOptional(),
  }),
);

/** What `throughline doctor --json` prints, and its exit code. */
export async function doctor(url: string, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await cli(['doctor', '--json'], { env: { NATS_URL: url, ...env } });
  expect(stderr).toBe('');
  return { code, found: findings.parse(JSON.parse(stdout)) };
}

/** What an installation with the configuration by default is measured by. */
export const EXPECTED: Expected = {
  replicas: 1,
  ackWaitMs: 10_000,
  requestTimeoutMs: 5000,
  version: VERSION,
  now: Date.now,
};

/** What is not as it should be, except that the server of a test is open on loopback. */
export const bad = (found: readonly Finding[]) =>
  found.filter(({ check, level }) => level !== 'ok' && check !== 'access');
export const levels = (found: readonly Finding[]) =>
  Object.fromEntries(found.map(({ check, level }) => [check, level]));
/** What was found of one thing. */
export const of = (found: readonly Finding[], what: string) => found.filter(({ check }) => check === what);
