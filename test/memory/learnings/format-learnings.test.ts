import { describe, expect, it } from 'vitest';
import { formatRelevantLearnings } from '../../../src/memory/learnings/learnings-state.js';
import { inPrompt, ranked } from '../../support/learnings.js';
import * as fc from '../../support/properties.js';

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

  it('T-22.3: keeps any text of a learning to one line below the header', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 300 }), { minLength: 1, maxLength: 5 }),
        (texts) => {
          const section = formatRelevantLearnings(
            inPrompt({ ranked: texts.map((content) => ranked(0.5, { content })), total: 9 }),
          );
          const [header, ...lines] = section.split('\n');
          expect(header).toBe(`Relevant learnings (${texts.length}/9):`);
          expect(lines).toHaveLength(texts.length);
          for (const line of lines) expect(line).toMatch(/^ {2}- pattern: /);
        },
      ),
    );
  });
});
