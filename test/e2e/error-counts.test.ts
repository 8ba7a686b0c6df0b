import type { Msg, NatsConnection } from 'nats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { token } from '../../src/contracts/names.js';
import { instancesOf } from '../../src/nats/micro/service-health.js';
import { type System, startSystem } from '../support/system.js';

/** Counts of one endpoint, as `nats micro stats` shows them. */
interface Counted {
  readonly service: string;
  readonly subject: string;
  readonly requests: number;
  readonly errors: number;
  readonly last: string | undefined;
}

let system: System;
let connection: NatsConnection;
/** Every endpoint of every service, from what the services announce. */
let endpoints: readonly Counted[];
beforeAll(async () => {
  system = await startSystem();
  ({ connection } = system.ports);
  endpoints = await counts();
});
afterAll(() => system.stop());

async function counts(): Promise<Counted[]> {
  const instances = await instancesOf(connection, '', 5000);
  return instances.flatMap(({ name: service, endpoints = [] }) =>
    endpoints.map(({ subject, num_requests: requests, num_errors: errors, last_error: last }) => ({
      ...{ service, subject, requests, errors, last },
    })),
  );
}

/** The subject of an endpoint for requests of one session. */
function subjectOf(endpoint: Counted, session: string): string {
  return endpoint.subject.replace('*', token(session, 'session'));
}

function errorOf(reply: Msg): { readonly code: string; readonly message: string } {
  const { error } = reply.json<{ error?: { code: string; message: string } }>();
  return error ?? { code: 'none', message: '' };
}

/** Sends one request to each endpoint, checks the refusals, and that each is counted where it was given. */
async function refusedEverywhere(
  from: NatsConnection,
  request: (endpoint: Counted) => { readonly subject: string; readonly body: string },
  refusal: { readonly code: string; readonly message: RegExp },
): Promise<void> {
  const before = await counts();
  for (const endpoint of endpoints) {
    const { subject, body } = request(endpoint);
    const { code, message } = errorOf(await from.request(subject, body, { timeout: 10_000 }));
    expect({ subject, code }).toEqual({ subject, code: refusal.code });
    expect(message, subject).toMatch(refusal.message);
  }
  const expected = before.map((each) => ({
    ...each,
    requests: each.requests + 1,
    errors: each.errors + 1,
    last: refusal.code,
  }));
  expect(await counts()).toEqual(expected);
}

describe('the statistics of every endpoint of every service', () => {
  it('all services announce themselves, with a health endpoint and both forms of each subject of a session', () => {
    const subjects = endpoints.map(({ subject }) => subject);
    const services = new Set(endpoints.map(({ service }) => service));
    expect([...services].sort()).toEqual([
      'extractor',
      'keeper',
      'learnings',
      'prompt-compiler',
      'session-tools',
    ]);
    expect(subjects).toEqual(expect.arrayContaining([...services].map((name) => `health.${name}`)));
    expect(subjects).toEqual(
      expect.arrayContaining(['prompt.compile', 'prompt.compile.*', 'tool.task-add.*']),
    );
  });

  it('an error reply to a request that is not JSON is counted at its endpoint', async () => {
    const request = (endpoint: Counted) => ({ subject: subjectOf(endpoint, 'text'), body: 'not JSON' });
    await refusedEverywhere(connection, request, { code: 'json_parse_failed', message: /not JSON/ });
  });

  it('an error reply to a request with a field that no one knows names it, and is counted at its endpoint', async () => {
    const request = (endpoint: Counted) => {
      // What a subject without a session takes need not be known here: the unknown field is named first.
      const body = { ...(endpoint.subject.endsWith('.*') && { session: 'unknown' }), no_one_knows_this: 1 };
      return { subject: subjectOf(endpoint, 'unknown'), body: JSON.stringify(body) };
    };
    const message = /^no_one_knows_this is not a recognized field/;
    await refusedEverywhere(connection, request, { code: 'schema_invalid', message });
  });
});
