import { describe, expect, it } from 'vitest';
import {
  ACTIONS,
  left,
  type Phase,
  type Review,
  type ReviewEvent,
  type Said,
  startReview,
  step,
} from '../../../src/cli/review/review-steps.js';
import type { ErrorCode } from '../../../src/contracts/error-codes.js';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import * as fc from '../../support/properties.js';
import { SIMILAR, viewOf } from '../../support/proposals.js';

const key = (pressed: string): ReviewEvent => ({ kind: 'key', key: pressed });
const loaded = (reply = viewOf()): ReviewEvent => ({ kind: 'loaded', reply });
const answered = (reply = viewOf()): ReviewEvent => ({ kind: 'answered', reply });
const refused = (code: ErrorCode): ReviewEvent => ({
  kind: 'refused',
  error: new ThroughlineError(code, 'no'),
});
const written = (text: string | undefined): ReviewEvent => ({ kind: 'text', text });
const interrupted: ReviewEvent = { kind: 'interrupted', exitCode: 130 };

function stepped(review: Review, ...events: readonly ReviewEvent[]): Review {
  return events.reduce(step, review);
}
const begun = (...events: readonly ReviewEvent[]) => stepped(startReview(['a1', 'b2']), ...events);
const texts = ({ said }: Review) => said.map((each: Said) => ('text' in each ? each.text : each.kind));
const decision = ({ phase }: Review) => (phase.kind === 'sending' ? phase.decision : undefined);

describe('a review', () => {
  it('a review is over at once where nothing is pending', () => {
    expect(startReview([]).phase).toEqual({ kind: 'over' });
  });

  it('a review loads a proposal and shows it before it asks', () => {
    expect(startReview(['a1']).phase).toEqual({ kind: 'loading' });
    const shown = begun(loaded());
    expect(shown).toMatchObject({ at: 0, phase: { kind: 'choosing' }, said: [{ kind: 'proposal' }] });
  });

  it.each([
    ['a', viewOf(), { kind: 'accepted' }],
    ['A', viewOf(), { kind: 'accepted' }],
    ['r', viewOf(), { kind: 'rejected' }],
    ['r', viewOf({}, { similar: SIMILAR }), { kind: 'rejected' }],
    ['m', viewOf({}, { similar: SIMILAR }), { kind: 'merged' }],
    ['b', viewOf({}, { similar: SIMILAR }), { kind: 'separate' }],
  ])('a review sends what %j decides', (pressed, view, sent) => {
    expect(decision(begun(loaded(view), key(pressed)))).toEqual(sent);
  });

  const same = viewOf({}, { similar: { ...SIMILAR, content: 'run the LINTER!', similarity: 1 } });
  it.each([
    [
      'a on a near-duplicate',
      viewOf({}, { similar: SIMILAR }),
      'a',
      /nearly the same: m merges, b keeps both/,
    ],
    ['a on the same text', same, 'a', /says the same: m merges, r rejects it/],
    ['b on the same text', same, 'b', /says the same: m merges, r rejects it/],
    ['m without a near-duplicate', viewOf(), 'm', /no learning says nearly the same/],
    ['b without a near-duplicate', viewOf(), 'b', /a accepts it/],
    ['any other key', viewOf(), 'z', /no such key/],
    ['an arrow key', viewOf(), '\u001b[A', /no such key/],
  ])('a review sends nothing for %s, and says why', (_what, view, pressed, why) => {
    const review = begun(loaded(view), key(pressed));
    expect(review.phase).toEqual({ kind: 'choosing', shown: view });
    expect(texts(review).join()).toMatch(why);
  });

  it('a review counts a decision when it is answered, and goes on', () => {
    const review = begun(loaded(), key('a'), answered());
    expect(review).toMatchObject({ at: 1, phase: { kind: 'loading' }, tally: { accepted: 1 } });
    expect(left(review)).toBe(1);
    expect(stepped(review, loaded(), key('r'), answered()).phase).toEqual({ kind: 'over' });
    const merged = begun(
      loaded(viewOf({}, { similar: SIMILAR })),
      key('m'),
      answered(viewOf({ mergedInto: '999999abcdef' })),
    );
    expect(merged.tally).toMatchObject({ merged: 1, accepted: 0 });
    expect(texts(merged)).toEqual(['merged into 99999']);
  });

  it('a review skips a proposal without deciding it', () => {
    const review = begun(loaded(), key('s'));
    expect(review).toMatchObject({ at: 1, phase: { kind: 'loading' }, tally: { skipped: 1 } });
    expect(left(review)).toBe(2);
  });

  it.each([['q'], ['\u0004']])('a review ends at %j without an error', (pressed) => {
    expect(begun(loaded(), key(pressed)).phase).toEqual({ kind: 'over' });
  });

  it.each([
    ['v', 'evidence'],
    ['?', 'help'],
  ])('a review shows more at %j, and asks again', (pressed, kind) => {
    expect(begun(loaded(), key(pressed))).toMatchObject({
      at: 0,
      phase: { kind: 'choosing' },
      said: [{ kind }],
    });
  });
});

describe('an edit', () => {
  it('an edit is sent, shown as it came back, and decided on after that', () => {
    const editing = begun(loaded(), key('e'));
    expect(editing.phase.kind).toBe('editing');
    const sent = stepped(editing, written('  Run it twice '));
    expect(decision(sent)).toEqual({ kind: 'edited', content: 'Run it twice' });
    const edited = stepped(sent, answered(viewOf({ content: 'Run it twice' })));
    expect(edited).toMatchObject({ at: 0, tally: { edited: 1 }, said: [{ kind: 'proposal' }] });
    expect(left(edited)).toBe(2);
  });

  it.each([[''], ['  '], ['Run the linter'], [undefined]])('an edit to %j changes nothing', (text) => {
    const review = begun(loaded(), key('e'), written(text));
    expect(review).toMatchObject({ at: 0, phase: { kind: 'choosing' }, tally: { edited: 0 } });
  });

  it('an edit that the service refuses leaves the proposal to be decided', () => {
    const review = begun(loaded(), key('e'), written('x'.repeat(300)), refused('schema_invalid'));
    expect(review).toMatchObject({ at: 0, phase: { kind: 'choosing' } });
    expect(texts(review)).toEqual(['no (schema_invalid)']);
  });

  it('the next edit begins with the text that the service refused, whatever was looked at meanwhile', () => {
    const long = 'x'.repeat(300);
    const again = begun(loaded(), key('e'), written(long), refused('schema_invalid'), key('?'), key('e'));
    expect(again.phase).toMatchObject({ kind: 'editing', text: long });
    const kept = stepped(again, written(undefined), key('e'));
    expect(kept.phase).toMatchObject({ kind: 'editing', text: 'Run the linter' });
  });

  it('an edit that came after another person’s decision goes on', () => {
    const accepted = viewOf({ status: 'accepted', decidedBy: 'bob', decidedAt: 'noon' });
    const review = begun(loaded(), key('e'), written('y'), answered(accepted));
    expect(review).toMatchObject({ at: 1, tally: { edited: 1, elsewhere: 1 } });
  });
});

describe('another person', () => {
  const rejected = viewOf({ status: 'rejected', decidedBy: 'bob', decidedAt: 'noon' });

  it('a review names the person who decided before the proposal was shown', () => {
    const review = begun(loaded(rejected));
    expect(review).toMatchObject({ at: 1, phase: { kind: 'loading' }, tally: { elsewhere: 1 } });
    expect(texts(review)).toEqual(['abcde was decided meanwhile: rejected by bob at noon']);
    expect(left(review)).toBe(1);
  });

  it('a review names the person who decided while the proposal was shown, and does not count a decision of its own', () => {
    const late = begun(loaded(), key('a'), refused('already_decided'));
    expect(late).toMatchObject({ at: 0, phase: { kind: 'loading' }, said: [] });
    expect(stepped(late, loaded(rejected))).toMatchObject({ at: 1, tally: { accepted: 0, elsewhere: 1 } });
  });

  it.each(['near_duplicate', 'not_found'] as const)(
    'a review shows the proposal again when the service refuses a decision with %s',
    (code) => {
      const review = begun(loaded(), key('a'), refused(code));
      expect(review).toMatchObject({ at: 0, phase: { kind: 'loading' }, said: [{ kind: 'trouble' }] });
    },
  );
});

describe('trouble', () => {
  it('a failed decision leaves the choice open, so that it can be tried again', () => {
    const review = begun(loaded(), key('a'), refused('unavailable'));
    expect(review).toMatchObject({ at: 0, phase: { kind: 'choosing' }, tally: { accepted: 0 } });
    expect(decision(stepped(review, key('a')))).toEqual({ kind: 'accepted' });
  });

  it('a proposal that cannot be loaded ends the review with the fault', () => {
    expect(begun(refused('unavailable')).phase).toMatchObject({
      kind: 'over',
      fault: { code: 'unavailable' },
    });
  });

  it.each<[string, readonly ReviewEvent[], number]>([
    ['loading', [], 0],
    ['choosing', [loaded()], 0],
    ['editing', [loaded(), key('e')], 0],
    ['sending', [loaded(), key('a')], 1],
  ])('an interrupt ends the review while %s', (_phase, events, said) => {
    const review = begun(...events, interrupted);
    expect(review.phase).toEqual({ kind: 'over', exitCode: 130 });
    expect(review.said).toHaveLength(said);
    expect(review.tally.accepted).toBe(0);
  });
});

describe('whatever happens', () => {
  const view = fc
    .record({ status: fc.constantFrom('pending', 'accepted', 'rejected'), similar: fc.boolean() })
    .map(({ status, similar }) => viewOf({ status }, { similar: similar ? SIMILAR : null }));
  const code = fc.constantFrom<ErrorCode>('already_decided', 'near_duplicate', 'unavailable', 'not_found');
  const keys = fc.constantFrom(...Object.values(ACTIONS).map((action) => action.key), 'z');
  const event: fc.Arbitrary<ReviewEvent> = fc.oneof(
    { arbitrary: keys.map(key), weight: 4 },
    { arbitrary: view.map(loaded), weight: 3 },
    { arbitrary: view.map(answered), weight: 3 },
    { arbitrary: code.map(refused), weight: 1 },
    { arbitrary: fc.constantFrom(undefined, '', 'new').map(written), weight: 1 },
  );

  it('a review decides or leaves each proposal once, only on an answer, and takes nothing after its end', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 5 }), fc.array(event), (queue, events) => {
        let review = startReview(queue);
        for (const each of events) {
          const before = review;
          review = step(before, each);
          const { accepted, merged, rejected, skipped, elsewhere } = review.tally;
          expect(accepted + merged + rejected + skipped + elsewhere).toBe(review.at);
          expect(review.at).toBeLessThanOrEqual(queue.length);
          if (review.phase.kind !== 'over') expect(review.at).toBeLessThan(queue.length);
          const own = ({ tally }: Review) => tally.accepted + tally.merged + tally.rejected;
          if (own(review) > own(before))
            expect([before.phase.kind, each.kind]).toEqual(['sending', 'answered']);
          if (before.phase.kind === 'over') expect(review).toBe(before);
          expect(sentWithout(before.phase, review.phase)).toBe(false);
        }
      }),
    );
  });

  /** Whether a decision is sent that no question stood before. */
  function sentWithout(before: Phase, now: Phase): boolean {
    return (
      now.kind === 'sending' && before !== now && before.kind !== 'choosing' && before.kind !== 'editing'
    );
  }
});
