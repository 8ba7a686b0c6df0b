import { describe, expect, it } from 'vitest';
import { implementer, recorded, reviewer, timeOf } from '../../support/builders.js';
import { Played } from '../../support/played.js';

/** A finding on task 1 that is closed by dispatch 9, and the work that it was raised for. */
function played(): Played {
  return new Played()
    .foldWhole(recorded(3, implementer({ summary: 'Parser done', files_modified: ['src/parser.ts'] })))
    .foldWhole(recorded(6, reviewer({ required_fixes: ['Return an empty list'] })))
    .foldWhole(recorded(9, reviewer({ assessment: 'approved' })));
}

function found(args: Parameters<typeof find>[1]) {
  return find(played(), args);
}

function find(session: Played, args: { text?: string; task?: string; closed?: boolean; limit?: number }) {
  const { reply } = session.when('fact-find', args);
  return reply as {
    facts: { id: string; object: string; dispatch: number; closed_by?: number }[];
    total: number;
  };
}

describe('fact-find', () => {
  it('fact-find finds valid facts by words that all stand in them, in any order and case', () => {
    expect(found({ text: 'DONE parser' }).facts).toMatchObject([{ object: 'Parser done', dispatch: 3 }]);
    expect(found({ text: 'parser lexer' })).toEqual({ facts: [], total: 0 });
    expect(found({ text: 'empty list' })).toEqual({ facts: [], total: 0 });
  });

  it('fact-find says which dispatch closed a fact, and when', () => {
    expect(found({ text: 'empty list', closed: true }).facts).toMatchObject([
      { task: '1', role: 'reviewer', dispatch: 6, closed_by: 9, closed_at: timeOf(9) },
    ]);
  });

  it('fact-find takes an id, or four characters of its beginning', () => {
    const [fact] = found({ text: 'parser done' }).facts;
    for (const text of [fact?.id, fact?.id.slice(0, 4), fact?.id.toUpperCase()])
      expect(found({ text: text ?? '' }).facts).toEqual([fact]);
  });

  it('fact-find shows valid facts before closed ones, the newest first, and counts what the limit left out', () => {
    const { facts, total } = found({ closed: true });
    expect(facts).toHaveLength(total);
    const closed = facts.map(({ closed_by }) => closed_by !== undefined);
    expect(closed).toEqual(closed.toSorted((a, b) => Number(a) - Number(b)));
    const valid = facts.filter(({ closed_by }) => closed_by === undefined).map(({ dispatch }) => dispatch);
    expect(valid).toEqual(valid.toSorted((a, b) => b - a));
    expect(found({ closed: true, limit: 2 })).toEqual({ facts: facts.slice(0, 2), total });
    expect(found({ task: '2' }).total).toBe(0);
  });
});
