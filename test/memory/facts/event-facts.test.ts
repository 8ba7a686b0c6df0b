import { describe, expect, it } from 'vitest';
import type { FactTag } from '../../../src/contracts/kinds.js';
import type { RoleResult } from '../../../src/contracts/results.js';
import { type FactRecorded, SESSION_EVENTS } from '../../../src/contracts/session-events.js';
import { RuleBasedFactExtractor } from '../../../src/memory/facts/fact-extractor.js';
import { factsOfEvent } from '../../../src/memory/facts/statements.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { encodeSnapshot } from '../../../src/memory/session/session-snapshot.js';
import { emptyState } from '../../../src/memory/session/session-state.js';
import {
  hostileTexts,
  implementer,
  recorded,
  reviewer,
  roleResults,
  stored,
} from '../../support/builders.js';
import * as fc from '../../support/properties.js';

const RULES = new RuleBasedFactExtractor();

function inFull(event: FactRecorded, returned: RoleResult): FactRecorded {
  const { facts, omitted } = RULES.extract(returned, event.data.dispatch.task);
  const data = { ...event.data, facts, ...(omitted > 0 && { facts_omitted: omitted }) };
  return { ...event, data: { ...data, facts_complete: true } };
}

/** The state of a session with these events, as its snapshot has it. */
function stateOf(events: readonly FactRecorded[]): string {
  const read = events.map((event) => SESSION_EVENTS.parse(JSON.parse(JSON.stringify(event))));
  const all = stored(read.flatMap((event) => event ?? []));
  expect(all).toHaveLength(events.length);
  return encodeSnapshot(all.reduce(evolve, emptyState('demo')), '');
}

// Whatever is folded, disarmed, cut or searched for may stand anywhere in a text.
const OTHERS = 'a word < > <| |> system begin_ dispatch_result é do not always never \\ " ...'.split(' ');
const pieces = fc.oneof(hostileTexts, fc.constantFrom(...OTHERS, '  ', 'never '));
const texts = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('check the bounds', 'always close the file', 'src/a.ts') },
  { weight: 3, arbitrary: fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')) },
  fc.string({ unit: 'binary', maxLength: 20 }),
  // About as long as what is kept.
  fc
    .tuple(fc.array(pieces, { minLength: 1, maxLength: 6 }), fc.integer({ min: 190, max: 520 }))
    .map(([all, length]) => all.join('').repeat(600).slice(0, length)),
);
const few = <T>(items: fc.Arbitrary<T>) => fc.array(items, { maxLength: 4 });
const explicit = fc.record(
  {
    subject: texts,
    relation: fc.constantFrom('uses', 'Depends On', 'noted'),
    object: texts,
    tags: fc.constant<FactTag[]>(['decision']),
  },
  { requiredKeys: ['subject', 'relation', 'object'] },
);
const common = { summary: texts, facts: few(explicit), history: fc.boolean() };
const maybe = { requiredKeys: [] };
const work = fc.record(
  {
    ...common,
    files_modified: few(texts),
    follow_up_actions: few(texts),
    blockers: few(texts),
    tests: few(fc.record({ command: texts, passed: fc.boolean(), failures: few(texts) })),
  },
  maybe,
);
const issue = fc.record(
  {
    severity: fc.constantFrom('critical' as const, 'important' as const, 'minor' as const),
    file: texts,
    message: texts,
    fix: texts,
  },
  { requiredKeys: ['severity', 'message'] },
);
const review = fc.record(
  { ...common, issues: few(issue), required_fixes: few(texts), strengths: few(texts) },
  maybe,
);
const hostile: fc.Arbitrary<RoleResult> = fc.oneof(
  work.map((more) => ({
    role: 'implementer' as const,
    result: { task_id: '1', status: 'completed' as const, ...more },
  })),
  review.map((more) => ({
    role: 'reviewer' as const,
    result: { task_id: '[2', assessment: 'approved' as const, ...more },
  })),
);

describe('an event without the facts that follow from its outcome', () => {
  it('such an event has the very facts that the rules find in its result', () => {
    fc.assert(
      fc.property(hostile, (returned) => {
        const event = recorded(1, returned);
        const { facts, omitted } = RULES.extract(returned, returned.result.task_id);
        expect(factsOfEvent(event)).toEqual(facts);
        expect(event.data.facts_omitted ?? 0).toBe(omitted);
      }),
      { numRuns: 1000 },
    );
  });

  it('such events give the same state, byte for byte, as those that hold all facts, and mixed with them', () => {
    const given = fc.array(fc.tuple(fc.oneof(roleResults, hostile), fc.boolean()), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(given, (results) => {
        const events = results.map(([returned], index) => recorded(index + 1, returned));
        const full = results.map(([returned], index) => inFull(recorded(index + 1, returned), returned));
        const mixed = results.map(
          ([, isFull], index) => (isFull ? full[index] : events[index]) as FactRecorded,
        );
        expect(stateOf(events)).toBe(stateOf(full));
        expect(stateOf(mixed)).toBe(stateOf(full));
      }),
      { numRuns: 100 },
    );
  });

  it('an event repeats no field of its outcome as a fact, and keeps the words of its agent', () => {
    const facts = [{ subject: 'parser', relation: 'Depends On', object: 'lexer' }];
    const event = recorded(1, implementer({ files_modified: ['src/a.ts'], blockers: ['no access'], facts }));
    expect(event.data.facts_complete).toBeUndefined();
    expect(event.data.facts).toEqual([
      { subject: 'parser', relation: 'depends_on', object: 'lexer', tags: [] },
    ]);
    expect(factsOfEvent(event).map(({ relation }) => relation)).toEqual([
      ...['completed_with', 'summary', 'modified_by', 'depends_on', 'blocked_by'],
    ]);
  });

  it('the suggestions of an approval follow from its outcome', () => {
    const event = recorded(1, reviewer({ assessment: 'approved', required_fixes: ['name the cases'] }));
    expect(event.data.facts).toEqual([]);
    expect(factsOfEvent(event)).toContainEqual({
      subject: 'task:1',
      relation: 'suggested',
      object: 'name the cases',
      tags: ['dependency'],
    });
  });

  const many = Array.from({ length: 51 }, (_, n) => `src/${n}.ts`);
  const unsorted = [
    { severity: 'minor' as const, message: 'always name the field' },
    { severity: 'critical' as const, message: 'never leak a handle' },
  ];
  it.each([
    ['more files than the outcome keeps', implementer({ files_modified: many })],
    ['conventions in another order', reviewer({ issues: unsorted })],
    [
      'a convention over two lines',
      reviewer({ issues: [{ severity: 'minor', message: 'must\nnever leak' }] }),
    ],
  ])('an event holds all facts where they would not follow: %s', (_, returned) => {
    const event = recorded(1, returned);
    expect(event.data.facts_complete).toBe(true);
    expect(event.data.facts).toEqual(RULES.extract(returned, '1').facts);
  });

  it('a long summary in plain words still follows from its outcome', () => {
    expect(recorded(1, implementer({ summary: 'some words '.repeat(80) })).data).not.toHaveProperty(
      'facts_complete',
    );
  });
});
