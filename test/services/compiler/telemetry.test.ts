import { describe, expect, it } from 'vitest';
import { added, NO_TELEMETRY, type SessionTelemetry } from '../../../src/contracts/compile-request.js';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import { token } from '../../../src/contracts/names.js';
import type { DispatchReply, IterationReply } from '../../../src/contracts/replies/compile-reply.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import type { NatsPorts } from '../../../src/nats/open-nats.js';
import { Telemetry } from '../../../src/services/compiler/prompt-keeper.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';

type Counted = Pick<DispatchReply, 'ledger' | 'budget' | 'tokenEstimate'>;

function fitted(wanted: number, used: number): Pick<Counted, 'budget' | 'tokenEstimate'> {
  const budget = { room: 3600, used, wanted, sections: [], dropped: 0, tokenizer: 'approximate' };
  return { budget, tokenEstimate: used };
}

const COMMON = {
  prompt: '',
  factsShown: 0,
  factsTotal: 0,
  compacted: null,
  sequence: 1,
  snapshotSequence: 0,
  replayed: 0,
  ...fitted(100, 100),
};
const ITERATION: IterationReply = { kind: 'iteration', ...COMMON };

function reply(more: Partial<Counted> = {}): DispatchReply {
  const hashes = { stablePrefixHash: '', fullPromptHash: '' };
  return { ...COMMON, kind: 'dispatch', ...hashes, ledger: { mode: 'none' }, ...more };
}

const A = token('a', 'session');

describe('telemetry', () => {
  it('telemetry counts what prompts were made from, how they were made to fit, and how long it took', async () => {
    const { telemetry, written } = await counting();
    telemetry.compiled(A, reply({ ledger: { mode: 'ledger' }, ...fitted(90, 90) }), 4);
    telemetry.compiled(A, reply({ ledger: { mode: 'ledger' }, ...fitted(500, 300) }), 10);
    for (const reason of ['rebuild_failed', 'rebuild_failed', 'progress_ledger_incomplete'] as const) {
      const ledger = { mode: 'ledger_plus_fallback', reason } as const;
      telemetry.compiled(A, reply({ ledger, ...fitted(10, 10) }), 1);
    }
    telemetry.failed(A, 'prompt_overflow');
    telemetry.failed(A, 'schema_invalid');
    telemetry.failed(A, 'schema_invalid');
    expect(await written()).toEqual({
      compiles: 5,
      errors: { prompt_overflow: 1, schema_invalid: 2 },
      ledgerModes: { ledger: 2, ledger_plus_fallback: 3 },
      fallbacks: { rebuild_failed: 2, progress_ledger_incomplete: 1 },
      shortened: 1,
      tokensWanted: 620,
      tokensUsed: 420,
      retrievalMs: 17,
      retrievalMaxMs: 10,
    });
  });

  it('telemetry counts a prompt without ledger, as an iteration has, like any other', async () => {
    const { telemetry, written } = await counting();
    telemetry.compiled(A, ITERATION, 1);
    expect(await written()).toMatchObject({
      ...{ compiles: 1, ledgerModes: { none: 1 }, shortened: 0, tokensWanted: 100, tokensUsed: 100 },
    });
  });

  it('telemetry forgets the session that has waited longest to be written, beyond 500', async () => {
    const { telemetry, written } = await counting();
    telemetry.compiled(A, reply(), 1);
    for (let session = 0; session < 500; session += 1)
      telemetry.compiled(token(`s${session}`, 'session'), reply(), 1);
    expect(await written()).toBeUndefined();
  });

  it('telemetry whose write failed comes again, and is warned of once', async () => {
    const { telemetry, store, written, warnings } = await counting(1);
    const add = store.add.bind(store);
    let failures = 2;
    const failed = new Promise<void>((resolve) => {
      store.add = async (...given) => {
        failures -= 1;
        if (failures < 0) return add(...given);
        if (failures === 0) resolve();
        throw new ThroughlineError('unavailable', 'no answer');
      };
    });
    telemetry.compiled(A, reply(), 1);
    await failed;
    telemetry.compiled(A, reply(), 1);
    expect((await written())?.compiles).toBe(2);
    expect(warnings).toHaveLength(1);
  });

  it('telemetry of a session that does not exist is not stored: anyone may name one', async () => {
    const { telemetry, store } = await counting();
    const nobody = token('nobody', 'session');
    telemetry.failed(nobody, 'schema_invalid');
    await telemetry.stop();
    expect(await store.load(nobody)).toBeUndefined();
  });
});

/** Returns telemetry on a log with the session `a`; `written` stops it. */
async function counting(everyMs = 2 ** 30) {
  const log = new MemorySessionLog();
  const sums = new Map<string, SessionTelemetry>();
  const store: Pick<NatsPorts['telemetry'], 'load' | 'add'> = {
    load: async (session) => sums.get(session),
    add: async (session, counts) => void sums.set(session, added(sums.get(session) ?? NO_TELEMETRY, counts)),
  };
  const at = '2026-01-01T00:00:00.000Z';
  await log.append(A, { v: EVENT_VERSION, type: 'session.opened', at, data: {} });
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (fields: unknown) => warnings.push(fields) };
  const telemetry = new Telemetry({ store, log, logger, everyMs });
  const written = async () => {
    await telemetry.stop();
    return store.load(A);
  };
  return { telemetry, store, written, warnings };
}
