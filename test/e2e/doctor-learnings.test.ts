import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VECTOR_BUCKET } from '../../src/contracts/names.js';
import { bad, doctor, of } from '../support/doctor.js';
import {
  type EmbeddingServer,
  hang,
  startEmbeddingServer,
  status,
  vectors,
} from '../support/embedding-server.js';
import { NOBODY } from '../support/nobody.js';
import { type System, soon, startSystem } from '../support/system.js';

let system: System;
let embeddings: EmbeddingServer;
beforeAll(async () => {
  embeddings = await startEmbeddingServer();
  // No service works until a test starts one.
  system = await startSystem({ only: [] });
});
afterAll(async () => {
  await system.stop();
  await embeddings.stop();
});

const embedding = (more: Record<string, string> = {}) => ({
  THROUGHLINE_EMBED_URL: embeddings.url,
  THROUGHLINE_EMBED_MODEL: 'bag',
  THROUGHLINE_TUNING: 'embedDeadlineMs=20000',
  ...more,
});
const found = async (what: string, env: Record<string, string> = {}) =>
  of((await doctor(system.url, env)).found, what);

describe('throughline doctor on vectors', () => {
  const BUCKET = `stream KV_${VECTOR_BUCKET}`;

  it('the doctor ignores a missing vector bucket that is not needed, and warns of one that is lost', async () => {
    expect(await found(BUCKET)).toEqual([]);
    expect(await found(BUCKET, embedding())).toMatchObject([
      { level: 'ok', message: expect.stringContaining('not there yet') },
    ]);
    await using service = await startSystem({ nats: system.nats, env: embedding(), only: ['learnings'] });
    const { client } = service;
    const { proposal } = await client.learnings.propose({ content: 'Close every file' });
    await client.proposals.accept({ id: proposal.id, by: 'ann' });
    await soon(async () => {
      expect(await found(BUCKET, embedding())).toMatchObject([
        { level: 'ok', message: expect.stringMatching(/^1 vector, \d+ bytes$/) },
      ]);
    });
    await (await system.ports.connection.jetstreamManager()).streams.delete(`KV_${VECTOR_BUCKET}`);
    expect(await found(BUCKET, embedding())).toMatchObject([
      { level: 'warn', message: expect.stringContaining('is missing, though there are learnings') },
    ]);
  });
});

describe('throughline doctor on an embedder', () => {
  it('the doctor tries the configured embedder, and no other', async () => {
    expect(await found('embedder')).toEqual([]);
    const message = expect.stringMatching(/\/bag gives 384 numbers in \d+ ms$/);
    expect(await found('embedder', embedding())).toMatchObject([{ level: 'ok', message }]);
  });

  it('the doctor warns of an embedder that is too slow for a prompt', async () => {
    const usual = vectors();
    embeddings.next(usual, (...request) => setTimeout(() => usual(...request), 50));
    const env = embedding({ THROUGHLINE_TUNING: 'embedDeadlineMs=10' });
    expect(await found('embedder', env)).toMatchObject([
      { level: 'warn', message: expect.stringMatching(/ms, and a prompt waits for 10$/) },
    ]);
  });

  it('the doctor warns of an embedder that does not answer, so that words decide', async () => {
    const env = embedding({ THROUGHLINE_EMBED_URL: `http://${NOBODY}` });
    expect(await found('embedder', env)).toMatchObject([
      {
        level: 'warn',
        message: expect.stringMatching(/ECONNREFUSED.*\(unavailable\)$/),
        fix: expect.any(String),
      },
    ]);
  });

  it('the doctor says how long it waited for an embedder that hangs', async () => {
    embeddings.next(hang);
    const env = embedding({ THROUGHLINE_TUNING: 'embedDeadlineMs=20000 requestTimeoutMs=1000' });
    const message = expect.stringMatching(/\/bag did not answer within 1000 ms \(unavailable\)$/);
    expect(await found('embedder', env)).toMatchObject([{ level: 'warn', message }]);
  });

  it('the doctor fails for an embedder that can never answer as it is configured', async () => {
    embeddings.next(status(401));
    expect(await found('embedder', embedding())).toMatchObject([
      { level: 'fail', message: expect.stringMatching(/THROUGHLINE_EMBED_KEY.*\(config_invalid\)$/) },
    ]);
    const env = { THROUGHLINE_EMBED_MODEL: '/nowhere' };
    const looked = await doctor(system.url, env);
    expect(looked.code).toBe(1);
    expect(bad(of(looked.found, 'embedder'))).toMatchObject([{ level: 'fail' }]);
  });
});
