import { describe, expect, it } from 'vitest';
import {
  factLine,
  formatSessionFacts,
  MAX_FACT_LINE,
  SESSION_CONTEXT_HEADER,
} from '../../../src/memory/facts/fact-types.js';
import { lengthOf } from '../../../src/shared/text.js';
import { fact, hostileTexts } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

describe('formatSessionFacts', () => {
  it('formatSessionFacts of no facts is empty: no header without a fact', () => {
    expect(formatSessionFacts([])).toBe('');
  });

  it('formatSessionFacts gives the header and a line for each fact, in order and without tags', () => {
    const facts = [
      fact({ subject: 'src/a.ts', object: 'task:2.1', sourceTaskId: '2.1' }),
      fact({ subject: 'task:3', relation: 'must_fix', object: 'close it', sourceTaskId: '3' }),
      fact({ subject: 'task:1', relation: 'summary', object: 'added the store' }),
    ];
    expect(formatSessionFacts(facts).split('\n')).toEqual([
      '[Session Context]',
      '- src/a.ts modified_by task:2.1 [task:2.1]',
      '- task:3 must_fix close it [task:3]',
      '- task:1 summary added the store [task:1]',
    ]);
  });
});

describe('a line', () => {
  it('a fact line of 120 characters stands as it is; of one more it loses the end of its object', () => {
    const head = '- src/a.ts issue ';
    const room = MAX_FACT_LINE - head.length - ' [task:1]'.length;
    const line = (length: number) => factLine(fact({ relation: 'issue', object: 'x'.repeat(length) }));
    expect(line(room)).toBe(`${head}${'x'.repeat(room)} [task:1]`);
    expect(line(room + 1)).toBe(`${head}${'x'.repeat(room - 3)}... [task:1]`);
    expect(line(room + 1)).toHaveLength(120);
  });

  it('a fact line is at most 120 characters with one provenance, at its end, whatever the words are', () => {
    const field = fc.tuple(hostileTexts, fc.nat(150)).map(([text, more]) => text + 'x'.repeat(more));
    fc.assert(
      fc.property(field, field, field, (subject, object, sourceTaskId) => {
        const line = factLine({ ...fact(), subject, object, sourceTaskId });
        expect(lengthOf(line)).toBeLessThanOrEqual(MAX_FACT_LINE);
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(line.startsWith('- ')).toBe(true);
        expect(line.match(/\[\s*task\s*:/gi)).toHaveLength(1);
        expect(line).toMatch(/ \[task:[^[\]]*\]$/);
        expect(line).not.toMatch(/(BEGIN|END)_DISPATCH_RESULT/i);
        expect(line.toLowerCase()).not.toContain(SESSION_CONTEXT_HEADER.toLowerCase());
      }),
    );
  });
});
