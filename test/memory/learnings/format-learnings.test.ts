import { describe, expect, it } from 'vitest';
import {
  compactProposals,
  formatCompactProposals,
  formatRelevantLearnings,
  type Proposal,
} from '../../../src/memory/learnings/learnings-state.js';
import { inPrompt, proposal, ranked } from '../../support/learnings.js';

const THREE = [
  ranked(0.89, { content: 'Prefers explicit error handling over silent failures' }),
  ranked(0.836, { content: 'Uses Zod for all schema validation' }),
  ranked(0.7649, { type: 'insight', content: 'ACR confidence threshold 0.7 balances recall/precision' }),
];

describe('formatRelevantLearnings', () => {
  it.each(['hybrid', 'semantic', 'lexical'] as const)(
    'T-22.1: the relevant learnings are lines without scores, found by %s',
    (method) => {
      expect(formatRelevantLearnings(inPrompt({ method, ranked: THREE, total: 15 }))).toBe(
        [
          'Relevant learnings (3/15):',
          '  - pattern: Prefers explicit error handling over silent failures',
          '  - pattern: Uses Zod for all schema validation',
          '  - insight: ACR confidence threshold 0.7 balances recall/precision',
        ].join('\n'),
      );
    },
  );

  it('T-22.2: the learnings are called recent where only recency chose', () => {
    const recent = THREE.map(({ learning }) => ({ learning, score: 0 }));
    expect(formatRelevantLearnings(inPrompt({ method: 'recency', ranked: recent, total: 15 }))).toBe(
      [
        'Recent learnings (3/15):',
        '  - pattern: Prefers explicit error handling over silent failures',
        '  - pattern: Uses Zod for all schema validation',
        '  - insight: ACR confidence threshold 0.7 balances recall/precision',
      ].join('\n'),
    );
  });

  it.each(['hybrid', 'semantic', 'lexical', 'recency'] as const)(
    'T-22.3: the text of no relevant learnings is empty, %s',
    (method) => {
      expect(formatRelevantLearnings(inPrompt({ method, total: 3 }))).toBe('');
    },
  );
});

describe('formatCompactProposals', () => {
  const index = (pending: readonly Proposal[]) =>
    formatCompactProposals(compactProposals(pending), pending.length, 'throughline learning ls');

  it('T-22.4: the index of proposals shows five characters of the id, type, text and confidence, and how to review', () => {
    const pending = [
      proposal({ id: 'abc12def4567', content: 'Prefers explicit errors', confidence: 0.8249 }),
      proposal({ id: 'def45abc1234', type: 'insight', content: 'TypeScript strict mode', confidence: 0.7 }),
      proposal({ id: '012345678901', type: 'self_knowledge', content: 'Forgets tests' }),
    ];
    expect(index(pending)).toBe(
      [
        'Pending proposals (3):',
        '  abc12 pattern  "Prefers explicit errors" (0.82)',
        '  def45 insight  "TypeScript strict mode" (0.70)',
        '  01234 self_knowledge "Forgets tests" (N/A)',
        '',
        'Review: `throughline learning ls`',
      ].join('\n'),
    );
  });

  it('T-22.5: the index of no proposals is empty', () => {
    expect(index([])).toBe('');
  });

  it('T-22.6: the index cuts a long proposal to 40 characters, the ellipsis among them', () => {
    const [line] = compactProposals([proposal({ content: 'Prefers explicit error handling, '.repeat(5) })]);
    expect(/"(.*)"/.exec(line ?? '')?.[1]).toBe('Prefers explicit error handling, Pref...');
  });

  it('the index shows five of many proposals, and how many there are', () => {
    const lines = index(Array.from({ length: 12 }, (_, at) => proposal({ content: `number ${at}` }))).split(
      '\n',
    );
    expect(lines[0]).toBe('Pending proposals (12):');
    expect(lines.filter((line) => line.includes('"number'))).toHaveLength(5);
    expect(lines[6]).toBe('  ...');
  });
});
