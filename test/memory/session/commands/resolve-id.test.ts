import { describe, expect, it } from 'vitest';
import { resolveId } from '../../../../src/memory/session/commands/session-decision.js';

/** Ids that stand for themselves. */
function items(...numbers: number[]): Map<string, string> {
  return new Map(numbers.map((number) => [`TAS-${number}`, `TAS-${number}`]));
}

const resolved = (known: Map<string, string>, given: string) => resolveId(known, given, 'task', 'TAS');
const found = (id: string) => ({ found: id });
const refused = (code: string, message: RegExp, details: object) => ({
  refusal: { kind: 'refuse', code, message: expect.stringMatching(message), details },
});

describe('an id', () => {
  const twelve = items(...Array.from({ length: 12 }, (_, index) => index + 1));

  it.each([
    ['as it is', 'TAS-2'],
    ['in lower case', 'tas-2'],
    ['in mixed case', 'Tas-2'],
    ['with spaces around it', ' TAS-2 '],
    ['as a bare number', '2'],
  ])('an id is found %s', (_how, given) => {
    expect(resolved(twelve, given)).toEqual(found('TAS-2'));
  });

  it('an id is taken exactly before it is taken as a prefix', () => {
    expect(resolved(twelve, 'TAS-1')).toEqual(found('TAS-1'));
    expect(resolved(twelve, '1')).toEqual(found('TAS-1'));
  });

  it('an id may be a prefix of at least three characters that fits only one', () => {
    expect(resolved(items(17), 'tas')).toEqual(found('TAS-17'));
    expect(resolved(items(17, 23), 'TAS-1')).toEqual(found('TAS-17'));
    expect(resolved(items(17, 23), 'tas-2')).toEqual(found('TAS-23'));
  });

  it.each(['', 'T', 'TA'])('an id is not a prefix as short as %j, even of the only one', (given) => {
    expect(resolved(items(17), given)).toEqual(refused('not_found', /known: TAS-17$/, { id: given }));
  });

  it('an id cannot be part of a number: 1 is not TAS-17', () => {
    expect(resolved(items(17), '1')).toEqual(refused('not_found', /no task "1"/, { id: '1' }));
    expect(resolved(items(1234), '123')).toEqual(refused('not_found', /no task "123"/, { id: '123' }));
  });

  it.each(['0', '02', '-1', '1.0', '1e0', '+1', '２'])(
    'an id cannot be another spelling of a number: %j',
    (given) => {
      expect(resolved(twelve, given)).toMatchObject({ refusal: { code: 'not_found' } });
    },
  );

  it('an id that fits very many is refused with a few of them', () => {
    const many = items(...Array.from({ length: 100 }, (_, index) => index + 1));
    expect(resolved(many, 'TAS')).toMatchObject({
      refusal: {
        message: expect.stringMatching(/TAS-5 and 95 more/),
        details: { candidates: { length: 20 } },
      },
    });
  });

  it('an id that fits none is refused, saying which there are', () => {
    expect(resolved(items(), 'TAS-1')).toEqual(
      refused('not_found', /^no task "TAS-1"; the session has no tasks$/, { id: 'TAS-1' }),
    );
    expect(resolved(twelve, 'TAS-99')).toEqual(
      refused('not_found', /known: TAS-1, TAS-2, TAS-3, TAS-4, TAS-5 and 7 more$/, { id: 'TAS-99' }),
    );
  });
});
