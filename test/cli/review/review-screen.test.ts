import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import { type Review, startReview, step } from '../../../src/cli/review/review-steps.js';
import { question, screen, summary } from '../../../src/cli/review/run-review.js';
import { SIMILAR, viewOf } from '../../support/proposals.js';

const plain = picocolors.createColors(false);
const evidence = [1, 2, 3, 4, 5].map((dispatch) => ({ session: 'demo', dispatch, task: `2.${dispatch}` }));

function shown(view = viewOf()): Review {
  return step(startReview(['abcdef012345', 'b2']), { kind: 'loaded', reply: view });
}

describe('the screen', () => {
  it('the review screen shows place, id, type, confidence, origin, text, tags, the newest cases and the question', () => {
    const view = viewOf({ method: 'recurring_fix', source: { session: 'demo', dispatch: 1 }, evidence });
    expect(screen(plain, shown(view))).toBe(
      [
        '',
        '(1/2) abcde  pattern  0.82  recurring_fix, session demo',
        '  Run the linter',
        '  tags: lint',
        '  evidence: 5 cases',
        '    session demo, task 2.5, dispatch 5',
        '    session demo, task 2.4, dispatch 4',
        '    session demo, task 2.3, dispatch 3',
        '    and 2 more',
        '[a]ccept  [r]eject  [e]dit  [s]kip  [v]iew evidence  [q]uit  [?] help > ',
      ].join('\n'),
    );
    const all = screen(plain, step(shown(view), { kind: 'key', key: 'v' }));
    expect(all).toContain('    session demo, task 2.1, dispatch 1\n[a]ccept');
  });

  it('the review screen shows what says nearly the same, and how to decide then', () => {
    const text = screen(plain, shown(viewOf({ source: { note: 'NOT-1' }, tags: [] }, { similar: SIMILAR })));
    expect(text).toContain(
      '  evidence: note NOT-1\n  a learning says nearly the same: 99999 (0.75) Run the linter first\n[m]erge  [b]oth  [r]eject',
    );
    expect(text).not.toContain('[a]ccept');
  });

  it('the review screen offers to keep both only where the texts differ', () => {
    const same = viewOf({}, { similar: { ...SIMILAR, content: 'Run the LINTER.' } });
    expect(question(plain, same)).toMatch(/^\[m\]erge {2}\[r\]eject/);
  });

  it('the review screen lists in its help the keys that make sense now', () => {
    const help = screen(plain, step(shown(), { kind: 'key', key: '?' }));
    expect(help).toMatch(/^ {2}a {2}accept it/);
    expect(help).not.toMatch(/^ {2}[mb] /m);
  });

  it('the review screen lets no text of an agent reach the terminal as a command', () => {
    const view = viewOf(
      { content: 'a\u001b[2Jb\nfake line', tags: ['\u001b]0;t\u0007'], source: { session: 's\u0000' } },
      { similar: { ...SIMILAR, content: 'x\u001b[1mY' } },
    );
    const text = screen(plain, shown(view));
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(text).toContain('  ab fake line\n');
  });

  it('the review screen begins a new line where a question was interrupted', () => {
    const over = step(shown(), { kind: 'interrupted', exitCode: 130 });
    expect(screen(plain, over)).toBe('\n-- nothing decided; 2 still pending\n');
  });
});

describe('the summary', () => {
  it('the review summary counts what was decided, what others decided, and what is left', () => {
    const tally = { accepted: 2, merged: 1, rejected: 0, edited: 1, skipped: 1, elsewhere: 3 };
    const review: Review = { ...startReview(Array(10).fill('x')), tally };
    expect(summary(review)).toBe(
      '-- 2 accepted, 1 merged, 1 edited, 1 skipped, 3 decided meanwhile; 4 still pending',
    );
  });
});
