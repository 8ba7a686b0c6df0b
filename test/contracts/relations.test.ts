import { describe, expect, it } from 'vitest';
import { parseDispatchBody } from '../../src/contracts/dispatch-body.js';
import { KINDS } from '../../src/contracts/kinds.js';
import { PROTECTED_RELATIONS } from '../../src/contracts/relations.js';
import { factsFrom } from '../support/builders.js';
import * as fc from '../support/properties.js';

const blanks = fc.constantFrom('', ...' \n\t\u00a0\u200b\u00ad\u2060\u0000\u202e');
const separators = fc.constantFrom('_', ' ', '-', '\u2011', '__', ' \u200b');
/** A relation as someone may write it who wants it to pass for another one. */
const spellings = fc
  .tuple(fc.constantFrom(...PROTECTED_RELATIONS), fc.infiniteStream(fc.tuple(blanks, fc.nat(2), separators)))
  .map(([relation, changes]) => {
    const signs = [...relation].map((sign) => {
      const [put, spelling, separator] = changes.next().value;
      // A blank within a word makes it another one; an invisible sign does not.
      const within = /\p{Cf}/u.test(put) ? put : '';
      if (sign === '_') return separator + within;
      const wide = String.fromCharCode(sign.charCodeAt(0) + 0xfee0);
      return [sign, sign.toUpperCase(), wide][spelling] + within;
    });
    return `${changes.next().value[0]}${signs.join('')}${changes.next().value[0]}`;
  });

function said(...facts: readonly object[]) {
  const body = Buffer.from(JSON.stringify({ task_id: '1', summary: 'x', facts }));
  const result = parseDispatchBody(body, 'observer', 64 * 1024);
  if (!result.ok) expect.fail(result.reason);
  return factsFrom(1, result.value).filter(({ relation }) => relation !== KINDS.observer.relations.summary);
}

describe('the relation of a fact in words', () => {
  it('a fact in words never has a relation that tells an outcome, however it is written', () => {
    fc.assert(
      fc.property(spellings, (relation) => {
        expect(said({ subject: 'task:9', relation, object: 'approved' })).toEqual([]);
      }),
    );
  });

  it.each(['Convention', 'Suggested'])('a fact in words may say %s, and not of a task', (relation) => {
    const told = { relation, object: 'no default exports' };
    expect(said({ ...told, subject: 'src' })).toHaveLength(1);
    expect(said({ ...told, subject: ' Task:\u200b1' })).toEqual([]);
    expect(said({ ...told, subject: 'ta\u200bsk:1' })).toEqual([]);
  });

  it('a marker cannot be put together from the words of a relation', () => {
    const [fact] = said({ subject: 'a', relation: 'BEGIN-DISPATCH RESULT', object: 'b' });
    expect(fact?.relation).toBe('begin dispatch result');
  });
});
