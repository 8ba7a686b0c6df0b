import { describe, expect, it } from 'vitest';
import { parseTasksMd } from '../../../src/ledger/tasks-md/parse-tasks-md.js';

function problemsOf(text: string): (readonly [code: string, line: number])[] {
  return parseTasksMd(text).problems.map(({ code, line }) => [code, line]);
}

describe('a numbered item without a box', () => {
  it('a numbered item without a box among items with boxes is reported, each with its line', () => {
    const text = '- a list\n\n1. [ ] First\n2. Second\n3. Third\n4. [x] Fourth\n';
    expect(parseTasksMd(text).tasks.map(({ id }) => id)).toEqual(['1', '4']);
    expect(problemsOf(text)).toEqual([
      ['id_without_status', 4],
      ['id_without_status', 5],
    ]);
  });

  it('a numbered item in a list of prose is left alone', () => {
    expect(problemsOf('- [ ] 1. Task\n\nHow to run it:\n\n1. Install\n2. Run\n')).toEqual([]);
  });
});
