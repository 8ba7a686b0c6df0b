import { describe, expect, it } from 'vitest';
import {
  beginnings,
  excerpts,
  fillPrompt,
  type Item,
  isShortened,
  type PromptPlan,
  type Shown,
} from '../../src/prompt/fill-prompt.js';
import { tokensIn } from '../../src/shared/text.js';
import * as fc from '../support/properties.js';

type Name = 'must' | 'notes' | 'text';

const texts = fc.array(fc.string({ minLength: 1, maxLength: 400 }), { maxLength: 25 });
const plans = fc
  .record({ must: texts, notes: texts, text: texts, best: fc.nat(5), isBackwards: fc.boolean() })
  .map(({ must, notes, text, best, isBackwards }): PromptPlan<Name> => {
    const sections = {
      must: must.slice(0, 3).map((each) => ({ forms: [each] })),
      notes: notes.map((each) => ({ forms: beginnings(each, 20, 20) })),
      text: text.map((each) => ({ forms: beginnings(each, 20, 20) })),
    };
    return {
      sections,
      essential: [{ section: 'must' }],
      order: [
        { section: 'notes', most: best },
        { section: 'text', backwards: isBackwards },
        { section: 'notes' },
      ],
      write: (shown) => written(sections, shown),
    };
  });

/** Sections with a title that says what is left out, as prompts have. */
function written(sections: Readonly<Record<Name, readonly Item[]>>, shown: Shown<Name>): string {
  const names = ['must', 'notes', 'text'] as const;
  return names
    .map((name) => {
      const rest = isShortened(sections[name], shown[name])
        ? ` (${shown[name].length} of ${sections[name].length}; all: \`throughline facts demo\`)`
        : '';
      return [`${name}${rest}:`, ...shown[name].map(({ text }) => text)].join('\n');
    })
    .join('\n\n');
}

const fill = (plan: PromptPlan<Name>, room: number) =>
  fillPrompt(plan, room, (tokens) => new RangeError(`needs ${tokens}`));

const rooms = fc.integer({ min: 40, max: 3000 });

describe('filling a prompt', () => {
  it('what goes in last is shortened, what comes before it is whole, and what comes after it is left out', () => {
    fc.assert(
      fc.property(plans, rooms, (plan, room) => {
        fc.pre(tokensIn(plan.sections.must.flatMap(({ forms }) => forms).join('')) < room - 40);
        const { shown } = fill(plan, room);
        const cut = Object.values(shown).flatMap((items) => items.filter(({ whole }) => !whole));
        expect(cut.length).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('an excerpt', () => {
  const FORM = { least: 40, step: 20, most: 200 };

  it('an excerpt holds the words that matter, wherever they stand', () => {
    const filler = 'the quick brown fox jumps over the lazy dog and runs away from the hound again '.repeat(
      2,
    );
    const text = `${filler}close the database handle ${filler}`;
    const [shortest = ''] = excerpts(text, (word) => ['database', 'handle'].includes(word), FORM);
    expect(shortest).toMatch(/^\.\.\..*database handle.*\.\.\.$/);
    expect(shortest.length).toBeLessThanOrEqual(46);
  });

  it('each excerpt holds the one before it, and the last is the whole text', () => {
    const words = fc.array(fc.constantFrom('a', 'match', 'longer', '検索', '😀', 'x.y'), { maxLength: 60 });
    fc.assert(
      fc.property(words, (said) => {
        const text = said.join(' ');
        const forms = excerpts(text, (word) => word === 'match', { ...FORM, most: 1000 });
        expect(forms.at(-1)).toBe(text);
        const bare = forms.map((form) => form.replace(/^\.\.\./, '').replace(/\.\.\.$/, ''));
        for (const [at, form] of bare.entries()) expect(bare[at + 1] ?? text).toContain(form);
      }),
    );
  });

  it('an excerpt of what is too long ends where it is cut', () => {
    expect(excerpts('x'.repeat(500), () => false, FORM).at(-1)).toBe(`${'x'.repeat(197)}...`);
  });
});
