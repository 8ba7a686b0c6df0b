import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import { token } from '../../../src/contracts/names.js';
import type { DispatchReply, IterationReply } from '../../../src/contracts/replies/compile-reply.js';
import { silentLogger } from '../../../src/engine/ports/clients.js';
import { Telemetry, TelemetryWriter } from '../../../src/services/compiler/telemetry.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemoryTelemetryStore } from '../../doubles/memory-telemetry-store.js';

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
  return {
    ...COMMON,
    kind: 'dispatch',
    stablePrefixHash: '',
    fullPromptHash: '',
    ledger: { mode: 'none' },
    ...more,
  };
}

const A = token('a', 'session');

describe('telemetry', () => {
  it('telemetry counts what prompts were made from, how they were made to fit, and how long it took', () => {
    const telemetry = new Telemetry();
    telemetry.compiled(A, reply({ ledger: { mode: 'ledger' }, ...fitted(90, 90) }), 4);
    telemetry.compiled(A, reply({ ledger: { mode: 'ledger' }, ...fitted(500, 300) }), 10);
    for (const reason of ['rebuild_failed', 'rebuild_failed', 'progress_ledger_incomplete'] as const) {
      const ledger = { mode: 'ledger_plus_fallback', reason } as const;
      telemetry.compiled(A, reply({ ledger, ...fitted(10, 10) }), 1);
    }
    telemetry.failed(A, 'prompt_overflow');
    telemetry.failed(A, 'schema_invalid');
    telemetry.failed(A, 'schema_invalid');
    expect(unwritten(telemetry, 'a')).toEqual([
      {
        compiles: 5,
        errors: { prompt_overflow: 1, schema_invalid: 2 },
        ledgerModes: { ledger: 2, ledger_plus_fallback: 3 },
        fallbacks: { rebuild_failed: 2, progress_ledger_incomplete: 1 },
        shortened: 1,
        tokensWanted: 620,
        tokensUsed: 420,
        retrievalMs: 17,
        retrievalMaxMs: 10,
      },
    ]);
  });

  it('telemetry counts a prompt without ledger, as an iteration has, like any other', () => {
    const telemetry = new Telemetry();
    telemetry.compiled(A, ITERATION, 1);
    expect(unwritten(telemetry, 'a')).toMatchObject([
      { compiles: 1, ledgerModes: { none: 1 }, shortened: 0, tokensWanted: 100, tokensUsed: 100 },
    ]);
  });

  it('telemetry forgets the session that has waited longest to be written, beyond 500', () => {
    const telemetry = new Telemetry();
    for (let session = 0; session <= 500; session += 1) {
      telemetry.compiled(token(`s${session}`, 'session'), reply(), 1);
    }
    const known = Object.keys(telemetry.toJSON().unwritten);
    expect(known).toHaveLength(500);
    expect(known).not.toContain('s0');
  });
});

describe('writing telemetry', () => {
  it('telemetry that is being written changes no more, and what comes meanwhile is counted beside it', async () => {
    const { telemetry, store, writer } = await writing();
    telemetry.compiled(A, reply(), 1);
    const add = store.add.bind(store);
    let round = Promise.resolve();
    let release = () => {};
    await new Promise<void>((asked) => {
      store.add = async (...given) => {
        asked();
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return add(...given);
      };
      round = writer.write();
    });
    store.add = add;
    telemetry.compiled(A, reply(), 1);
    expect(unwritten(telemetry, 'a').map(({ compiles }) => compiles)).toEqual([1, 1]);
    release();
    await round;
    expect(unwritten(telemetry, 'a').map(({ compiles }) => compiles)).toEqual([1]);
    await writer.stop();
    expect(unwritten(telemetry, 'a')).toEqual([]);
    expect((await store.load(A))?.counts.compiles).toBe(2);
  });

  it.each([
    ['before', 'it was stored'],
    ['after', 'it was stored'],
  ])('telemetry whose write failed %s %s comes again, and counts once', async (when) => {
    const { telemetry, store, writer, warnings } = await writing();
    const add = store.add.bind(store);
    let failures = 2;
    store.add = async (...given) => {
      if (failures <= 0 || when === 'after') await add(...given);
      failures -= 1;
      if (failures >= 0) throw new ThroughlineError('unavailable', 'no answer');
    };
    telemetry.compiled(A, reply(), 1);
    await writer.write();
    telemetry.compiled(A, reply(), 1);
    await writer.write();
    expect(warnings).toHaveLength(1);
    await writer.write();
    await writer.stop();
    expect((await store.load(A))?.counts.compiles).toBe(2);
    expect(unwritten(telemetry, 'a')).toEqual([]);
  });

  it('telemetry of a session that does not exist is not stored: anyone may name one', async () => {
    const { telemetry, store, writer } = await writing();
    const nobody = token('nobody', 'session');
    telemetry.failed(nobody, 'schema_invalid');
    await writer.stop();
    expect(await store.load(nobody)).toBeUndefined();
    expect(telemetry.sessions()).toEqual([]);
  });
});

function unwritten(telemetry: Telemetry, session: string) {
  return (telemetry.toJSON().unwritten[session] ?? []).map(({ counts }) => counts);
}

/** Returns a writer with manual writes, on a log with the session `a`. */
async function writing() {
  const [telemetry, store, log] = [new Telemetry(), new MemoryTelemetryStore(), new MemorySessionLog()];
  await log.append(A, {
    v: EVENT_VERSION,
    type: 'session.opened',
    at: '2026-01-01T00:00:00.000Z',
    data: {},
  });
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (fields: unknown) => warnings.push(fields) };
  const writer = new TelemetryWriter({ telemetry, store, log, logger, everyMs: 2 ** 30 });
  return { telemetry, store, writer, warnings };
}
