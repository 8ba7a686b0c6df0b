import { describe, expect, it } from 'vitest';
import type { DispatchReply, IterationReply } from '../../../src/contracts/replies/compile-reply.js';
import { Telemetry } from '../../../src/services/compiler/telemetry.js';

type Counted = Pick<DispatchReply, 'ledger' | 'budget' | 'tokenEstimate'>;

function fitted(wanted: number, used: number): Pick<Counted, 'budget' | 'tokenEstimate'> {
  const budget = { room: 3600, used, wanted, sections: [], dropped: 0, tokenizer: 'approximate' };
  return { budget, tokenEstimate: used };
}

const COMMON = {
  prompt: '',
  sessionContext: '',
  files: [],
  facts: [],
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
    messages: [],
    stablePrefixHash: '',
    fullPromptHash: '',
    ledger: { mode: 'none' },
    ...more,
  };
}

describe('telemetry', () => {
  it('telemetry counts what prompts were made from, how they were made to fit, and how long it took', () => {
    const telemetry = new Telemetry();
    telemetry.compiled('a', reply({ ledger: { mode: 'ledger' }, ...fitted(90, 90) }), 4);
    telemetry.compiled('a', reply({ ledger: { mode: 'ledger' }, ...fitted(500, 300) }), 10);
    const fallback = { mode: 'ledger_plus_fallback', reason: 'rebuild_failed' } as const;
    telemetry.compiled('a', reply({ ledger: fallback, ...fitted(10, 10) }), 1);
    telemetry.rebuilt('a');
    telemetry.failed('a', 'prompt_overflow');
    telemetry.failed('a', 'schema_invalid');
    telemetry.failed('a', 'schema_invalid');
    expect(telemetry.toJSON()).toEqual({
      a: {
        compiles: 3,
        errors: { prompt_overflow: 1, schema_invalid: 2 },
        ledgerModes: { ledger: 2, ledger_plus_fallback: 1 },
        fallbacks: { rebuild_failed: 1 },
        rebuilds: 1,
        shortened: 1,
        tokensWanted: 600,
        tokensUsed: 400,
        retrievalMs: 15,
        retrievalMaxMs: 10,
      },
    });
  });

  it('telemetry counts a prompt without ledger, as an iteration has, like any other', () => {
    const telemetry = new Telemetry();
    telemetry.compiled('a', ITERATION, 1);
    expect(telemetry.toJSON().a).toMatchObject({
      compiles: 1,
      ledgerModes: { none: 1 },
      shortened: 0,
      tokensWanted: 100,
      tokensUsed: 100,
    });
  });

  it('telemetry keeps sessions apart, and forgets the one asked for least recently beyond 200', () => {
    const telemetry = new Telemetry();
    for (let session = 0; session < 200; session += 1) telemetry.compiled(`s${session}`, reply(), 1);
    telemetry.compiled('s0', reply(), 1);
    telemetry.compiled('new', reply(), 1);
    const known = telemetry.toJSON();
    expect(Object.keys(known)).toHaveLength(200);
    expect(known).not.toHaveProperty('s1');
    expect(known.s0?.compiles).toBe(2);
    expect(known.new?.compiles).toBe(1);
  });

  it('telemetry takes names that every object has for sessions', () => {
    const telemetry = new Telemetry();
    telemetry.compiled('constructor', reply(), 1);
    telemetry.compiled('__proto__', reply(), 1);
    expect(Object.entries(telemetry.toJSON()).map(([session, { compiles }]) => [session, compiles])).toEqual([
      ['constructor', 1],
      ['__proto__', 1],
    ]);
  });
});
