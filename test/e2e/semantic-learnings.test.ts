import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { token, VECTOR_BUCKET } from '../../src/contracts/names.js';
import type { CompileReply } from '../../src/contracts/replies/compile-reply.js';
import { type EmbeddingServer, startEmbeddingServer } from '../support/embedding-server.js';
import { startTestNats, type TestNats } from '../support/nats-server.js';
import { type System, soon, startSystem } from '../support/system.js';

// The whole system beside a real server of embeddings: what is accepted is found by meaning, whatever that server does.
const PROJECT = 'semantic';
const TASK = { session: 's', taskId: '1', maxLearnings: 5, project: PROJECT };

let nats: TestNats;
let embeddings: EmbeddingServer;
let system: System;
beforeAll(async () => {
  nats = await startTestNats();
  embeddings = await startEmbeddingServer();
  system = await startSystem({ nats, env: env('bag-1') });
  for (const content of ['Close every file handle', 'Validate schema input with zod', 'Write tests first']) {
    const reply = await system.client.request('learning.propose', { project: PROJECT, content });
    const { proposal } = reply as { proposal: { id: string } };
    await system.client.request('proposal.accept', { project: PROJECT, id: proposal.id, by: 'ann' });
  }
  await vectorsOf('bag-1');
});
afterAll(async () => {
  await system.stop();
  await embeddings.stop();
  await nats.stop();
});

function env(model: string, deadlineMs = 5000) {
  return {
    THROUGHLINE_EMBED_URL: embeddings.url,
    THROUGHLINE_EMBED_MODEL: model,
    THROUGHLINE_TUNING: `embedDeadlineMs=${deadlineMs}`,
  };
}

/** Waits until all three learnings have a vector of a model whose name ends so. */
function vectorsOf(model: string): Promise<void> {
  return soon(async () => {
    const read = await system.ports.vectors.read(token(PROJECT, 'project'), 0);
    expect(read.vectors.map((vector) => vector.model.includes(model))).toEqual([true, true, true]);
  });
}

function asked(by: System, taskPrompt: string): Promise<CompileReply> {
  return by.client.compile({ ...TASK, taskPrompt, include: ['learnings'] });
}

describe('with an endpoint for embeddings', () => {
  it('an embedding endpoint finds learnings by meaning beside words, the best of both first', async () => {
    const reply = await asked(system, 'validate the input schema');
    expect(reply).toMatchObject({ method: 'hybrid', learningsTotal: 3 });
    expect(reply.learnings?.[0]).toMatchObject({ content: 'Validate schema input with zod', score: 1 });
    expect(reply.prompt).toContain('\n  - insight: Validate schema input with zod\n');
    expect((await asked(system, 'validate the input schema')).prompt).toBe(reply.prompt);
  });

  it('no secret of a task reaches the embedding endpoint', async () => {
    const secret = `ghp_${'aB3'.repeat(12)}`;
    await asked(system, `push with ${secret} to the remote`);
    const sent = embeddings.requests.flatMap(({ input }) => input);
    expect(sent.some((text) => text.includes('push with <redacted'))).toBe(true);
    expect(sent.join(' ')).not.toContain(secret);
  });
});

describe('when the bucket of vectors is deleted', () => {
  it('a deleted vector bucket is filled again with the next decision, and processes that start then find by meaning', async () => {
    const jsm = await system.ports.connection.jetstreamManager();
    await jsm.streams.delete(`KV_${VECTOR_BUCKET}`);
    const { proposal } = await system.client.learnings.propose({
      project: PROJECT,
      content: 'Name the unit',
    });
    await system.client.proposals.accept({ project: PROJECT, id: proposal.id, by: 'ann' });
    await soon(async () => {
      const { vectors: read } = await system.ports.vectors.read(token(PROJECT, 'project'), 0);
      expect(read).toHaveLength(4);
    });
    const restarted = await startSystem({ nats, env: env('bag-1'), only: ['compiler'] });
    const reply = await asked(restarted, 'close the file handle');
    expect(reply).toMatchObject({ method: 'hybrid' });
    await restarted.stop();
  });
});
