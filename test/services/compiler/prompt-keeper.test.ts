import { describe, expect, it, vi } from 'vitest';
import { checkedRequest } from '../../../src/contracts/checked.js';
import {
  type CompileRequest,
  compileRequest,
  pastPromptRequest,
} from '../../../src/contracts/compile-request.js';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { token } from '../../../src/contracts/names.js';
import type { KeptPrompt } from '../../../src/contracts/prompt-requests.js';
import type { DispatchReply } from '../../../src/contracts/replies/compile-reply.js';
import { secretScanner } from '../../../src/memory/redaction/redactor.js';
import type { NatsPorts } from '../../../src/nats/open-nats.js';
import { keptOf, PromptKeeper } from '../../../src/services/compiler/prompt-keeper.js';
import { fact } from '../../support/builders.js';
import { capturedLog } from '../../support/captured-log.js';
import { fakeTimers } from '../../support/fake-timers.js';

const SESSION = token('kept', 'session');
const SECRET = `ghp_${'a1B2'.repeat(9)}`;
const secrets = secretScanner;

const REPLY: DispatchReply = {
  kind: 'dispatch',
  prompt: 'do it',
  factsShown: 1,
  factsTotal: 3,
  tokenEstimate: 12,
  compacted: null,
  sequence: 7,
  snapshotSequence: 0,
  replayed: 0,
  budget: { room: 100, used: 12, wanted: 20, sections: [], dropped: 2, tokenizer: 'approximate' },
  stablePrefixHash: 'prefix',
  fullPromptHash: 'whole',
  ledger: { mode: 'none' },
};

const NONE = { shown: [], left: [], learnings: [] };

function requested(more: object = {}): CompileRequest {
  return checkedRequest(compileRequest, { session: SESSION, taskId: '2.1', taskPrompt: 'go on', ...more });
}

function compiled(more: object = {}, reply: Partial<DispatchReply> = {}) {
  const request = requested(more);
  return { session: SESSION, request, reply: { ...REPLY, ...reply }, chosen: NONE, durationMs: 1.234 };
}

function kept(more: object = {}, reply: Partial<DispatchReply> = {}) {
  return keptOf({ id: 'p1', at: '2026-01-01T00:00:00.000Z', ...compiled(more, reply) }, secrets);
}

describe('what is kept of a prompt', () => {
  it('what is kept of a prompt is what it showed, what it left out, and the request for it as it was', () => {
    const [shown, left] = [fact({ object: 'one' }), fact({ object: 'other' })];
    const chosen = {
      shown: [{ fact: shown, score: 0.12345 }],
      left: [{ fact: left, score: 0.1, left: 'near-duplicate' as const }],
      learnings: ['l1'],
    };
    const reply = { ...REPLY, learningsSequence: 4 };
    const whole = {
      ...compiled({ after: 3, afterTimeoutMs: 10, explain: true, include: ['facts'] }),
      reply,
      chosen,
    };
    const trace = keptOf({ id: 'p1', at: '2026-01-01T00:00:00.000Z', ...whole }, secrets);
    expect(trace).toMatchObject({
      id: 'p1',
      session: SESSION,
      kind: 'dispatch',
      task: '2.1',
      role: 'implementer',
      sequence: 7,
      tokens: 12,
      hash: 'whole',
      prefixHash: 'prefix',
      room: 100,
      wanted: 20,
      dropped: 2,
      durationMs: 1.23,
      ledger: { mode: 'none' },
      facts: [{ id: expect.stringMatching(/^[0-9a-f]{16}$/), score: 0.123 }],
      left: [{ why: 'near-duplicate' }],
      learnings: ['l1'],
      request: { session: SESSION, taskId: '2.1', asOf: 7, learningsAsOf: 4 },
    });
    expect(trace).not.toHaveProperty('cut');
    for (const field of ['after', 'explain', 'include']) expect(trace.request).not.toHaveProperty(field);
    // The stored request is valid as it is.
    expect(checkedRequest(pastPromptRequest, trace.request)).toMatchObject({ asOf: 7, learningsAsOf: 4 });
  });

  it('what is kept of a request holds no secret, not even half of one where it was cut, and says so', () => {
    for (const before of [0, 5980, 1480]) {
      const taskPrompt = `${'x'.repeat(before)} ${SECRET} ${'y '.repeat(before === 0 ? 1 : 40_000)}`;
      const trace = kept({ taskPrompt });
      expect(JSON.stringify(trace)).not.toContain(SECRET.slice(0, 12));
      expect(trace).toMatchObject({ cut: true });
    }
  });

  it.each([
    ['long texts', { taskPrompt: 'x'.repeat(200_000), systemPrompt: 'é'.repeat(200_000) }],
    ['many long paths', { hints: { missing: Array.from({ length: 50 }, () => '漢'.repeat(1024)) } }],
  ])('what is kept of a request is bounded: %s', (_, more) => {
    const trace = kept(more);
    expect(Buffer.byteLength(JSON.stringify(trace))).toBeLessThan(40_000);
    expect(trace).toMatchObject({ cut: true, request: { taskId: '2.1', asOf: 7 } });
    expect(() => checkedRequest(pastPromptRequest, trace.request)).not.toThrow();
  });

  it('a prompt that went without learnings is compiled again without them', () => {
    const trace = kept({}, { learningsError: { code: 'unavailable', message: 'no answer' } });
    expect(trace.request).toMatchObject({ maxLearnings: 0 });
  });
});

describe('the keeper of prompts', () => {
  fakeTimers();

  function keptPrompts() {
    const kept: KeptPrompt[] = [];
    return { all: () => kept, keep: async (prompt: KeptPrompt) => void kept.unshift(prompt) };
  }

  function keeperOn(ring: Pick<NatsPorts['prompts'], 'keep'>, maxWaiting = 500) {
    const log = capturedLog();
    const clock = () => '2026-01-01T00:00:00.000Z';
    return { log, keeper: new PromptKeeper({ ring, secrets, clock, logger: log.logger, maxWaiting }) };
  }

  it('the keeper stores nothing while the request is answered, and what waits a moment later', async () => {
    const ring = keptPrompts();
    const { keeper } = keeperOn(ring);
    keeper.add(compiled());
    expect(ring.all()).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(ring.all()).toHaveLength(1);
    expect(keeper.counts).toEqual({ kept: 1, dropped: 0, waiting: 0 });
  });

  it('the keeper drops the oldest of more than may wait, and counts them; at its end it stores the others', async () => {
    const ring = keptPrompts();
    const { keeper } = keeperOn(ring, 60);
    for (let sequence = 1; sequence <= 100; sequence += 1) keeper.add(compiled({}, { sequence }));
    expect(keeper.counts).toEqual({ kept: 0, dropped: 40, waiting: 60 });
    await keeper.stop();
    expect(
      ring
        .all()
        .map(({ sequence }) => sequence)
        .slice(0, 2),
    ).toEqual([100, 99]);
    expect(ring.all().at(-1)?.sequence).toBe(41);
    expect(keeper.counts).toEqual({ kept: 60, dropped: 40, waiting: 0 });
  });

  it('the keeper says once that nothing can be stored, drops what could not be, and goes on', async () => {
    const ring = keptPrompts();
    let isDown = true;
    const { keeper, log } = keeperOn({
      keep: async (prompt) => {
        if (isDown) throw new ThroughlineError('unavailable', 'no answer');
        return ring.keep(prompt);
      },
    });
    for (let round = 0; round < 3; round += 1) {
      keeper.add(compiled());
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(log.lines.filter((line) => line.includes('compiled prompts are not kept'))).toHaveLength(1);
    isDown = false;
    keeper.add(compiled());
    await vi.advanceTimersByTimeAsync(100);
    expect(ring.all()).toHaveLength(1);
    expect(keeper.counts).toEqual({ kept: 1, dropped: 3, waiting: 0 });
  });
});
