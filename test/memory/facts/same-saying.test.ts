import { expect, it } from 'vitest';
import { FactIndex } from '../../../src/memory/facts/fact-index.js';
import { Sayings, saySame } from '../../../src/memory/facts/fact-ranking.js';
import { fact } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

const word = fc.constantFrom('parse', 'case 7', 'case 8', 'the router', 'src/a.ts', 'retry', 'close');
const said = fc.record({
  subject: fc.constantFrom('src/a.ts', 'src/b.ts', 'task:1', 'router'),
  relation: fc.constantFrom('modified_by', 'issue', 'uses', 'summary'),
  object: fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' ')),
});

it('of the facts that came first, the first is found that says the same', () => {
  fc.assert(
    fc.property(
      fc.array(said, { maxLength: 25 }),
      said,
      fc.integer({ min: 1, max: 30 }),
      (all, one, most) => {
        const index = new FactIndex();
        for (const each of [...all, one]) index.add(fact(each));
        const entries = [...index.all()];
        const asked = entries.pop();
        if (asked === undefined) return;
        const sayings = new Sayings(most);
        for (const entry of entries) sayings.add(entry);
        expect(sayings.sameAs(asked)).toBe(entries.slice(0, most).find((other) => saySame(asked, other)));
      },
    ),
  );
});
