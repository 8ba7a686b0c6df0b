import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAST_PROMPT_SUBJECT, token } from '../../src/contracts/names.js';
import type { CompileReply } from '../../src/contracts/replies/compile-reply.js';
import type { SessionEvent } from '../../src/contracts/session-events.js';
import {
  type Answer,
  DIMENSION,
  type EmbeddingServer,
  startEmbeddingServer,
  vectors,
} from '../support/embedding-server.js';
import { forgotten } from '../support/forgetting.js';
import { startTestNats, type TestNats } from '../support/nats-server.js';
import { implemented, publishWire, type System, soon, startSystem } from '../support/system.js';

// The whole system beside a server of embeddings in which "redis" and "logged out" mean the same, and all else something else.
const SESSION = token('meaning', 'session');
const TASK = { session: SESSION, taskId: 'next', taskPrompt: 'Users get logged out' };
const KEPT = 'sessions live in redis';
const SECRET = `ghp_${'aB3'.repeat(12)}`;

let nats: TestNats;
let embeddings: EmbeddingServer;
let system: System;

const byMeaning: Answer = (request, response) =>
  vectors((items) =>
    items.map((item) => {
      const means = /redis|logged out/.test(request.input[item.index] ?? '');
      const embedding = Array.from({ length: DIMENSION }, (_, at) => Number(means ? at === 0 : at > 0));
      return { ...item, embedding };
    }),
  )(request, response);

const env = (model: string) => ({
  THROUGHLINE_EMBED_URL: embeddings.url,
  THROUGHLINE_EMBED_MODEL: model,
  THROUGHLINE_TUNING: 'embedDeadlineMs=2000',
});

const eventsOf = async (type: SessionEvent['type']) => {
  const { events } = await system.ports.log.read(SESSION, { after: 0 });
  return events.map(({ event }) => event).filter((event) => event.type === type);
};
const vectorised = async () =>
  (await eventsOf('fact.vectors')).flatMap((event) =>
    event.type === 'fact.vectors' ? event.data.vectors.map(({ fact }) => fact) : [],
  );
/** The newest prompt, once it is stored, whose decisions were ordered in this way. */
const newestPrompt = (method: 'semantic' | 'lexical') =>
  soon(async () => {
    const { prompts } = await system.client.tools.promptList({ session: SESSION });
    expect(prompts[0]?.method).toBe(method);
    return system.client.tools.promptShow({ session: SESSION, id: prompts[0]?.id ?? '' });
  });

beforeAll(async () => {
  nats = await startTestNats();
  embeddings = await startEmbeddingServer();
  embeddings.always(byMeaning);
  system = await startSystem({ nats, env: env('fake') });
  const decision = (n: number, object: string) =>
    publishWire(
      system.client,
      'implementer',
      SESSION,
      implemented(`t${n}`, { facts: [{ subject: `part-${n}`, relation: 'decided', object }] }),
    );
  await decision(0, KEPT);
  await decision(1, `the key is ${SECRET}`);
  for (let n = 2; n <= 50; n += 1) await decision(n, `colour number ${n} is painted twice`);
  await soon(async () => expect(new Set(await vectorised()).size).toBe(51));
});
afterAll(async () => {
  await system.stop();
  await embeddings.stop();
  await nats.stop();
});

describe('fifty decisions, with an endpoint for embeddings', () => {
  it('the decision closest in meaning is shown, however old, and the record of the prompt gives the same bytes without a model', async () => {
    const { prompt } = await system.client.compile(TASK);
    expect(prompt).toContain(KEPT);
    const kept = await newestPrompt('semantic');
    const past = async (request: object) =>
      (await system.client.request(`${PAST_PROMPT_SUBJECT}.${SESSION}`, request)) as CompileReply;
    const asked = embeddings.requests.length;
    expect((await past(kept.request)).prompt).toBe(prompt);
    const { meaning: _, ...without } = kept.request;
    expect((await past(without)).prompt).not.toContain(KEPT);
    expect(embeddings.requests.length).toBe(asked);
  });

  it('no secret of a fact reaches the embedding endpoint', () => {
    const sent = embeddings.requests.flatMap(({ input }) => input).join(' ');
    expect(sent).toContain('the key is <redacted');
    expect(sent).not.toContain(SECRET);
  });

  it('an exported session holds its vectors, and an erased one leaves none', async () => {
    const events = await system.client.tools.sessionExport({ session: SESSION });
    expect(JSON.stringify(events)).toContain('fact.vectors');
    await forgotten(system, SESSION);
    expect(await vectorised()).toEqual([]);
  });
});
