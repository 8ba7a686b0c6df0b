import { describe, expect, it } from 'vitest';
import type { RoleResult } from '../../src/contracts/results.js';
import type { StallSignal } from '../../src/contracts/session-meta-events.js';
import { replanHint } from '../../src/ledger/ledger-entries.js';
import { normalised, type RaisedSignal } from '../../src/ledger/stall.js';
import { signalsOf } from '../../src/ledger/task-ledger.js';
import { implementer, reviewer, roleResults } from '../support/builders.js';
import { APPROVED, blocked, completed, failed, ledgerAfter, needsChanges } from '../support/ledgers.js';
import * as fc from '../support/properties.js';
import { SIGNAL_CASES } from './stall-cases.js';

/** @param only this signal */
function raisedAfter(results: readonly RoleResult[], only?: StallSignal): RaisedSignal[] {
  const ledger = ledgerAfter(results);
  const raised = ledger === undefined ? [] : signalsOf(ledger);
  return raised.filter(({ signal }) => only === undefined || signal === only);
}

describe.each(SIGNAL_CASES)(
  'the signal $signal',
  ({ signal, quiet, raising, count, evidence, resets, keeps }) => {
    it('a stall signal is not raised below its threshold', () => {
      expect(raisedAfter(quiet)).toEqual([]);
      expect(ledgerAfter(quiet)?.stalled).toBe(false);
    });

    it('a stall signal is raised at its threshold, alone and with its evidence', () => {
      expect(raisedAfter([...quiet, raising])).toEqual([{ signal, count, threshold: 2, evidence }]);
      expect(ledgerAfter([...quiet, raising])).toMatchObject({ stalled: true, planVersion: 2 });
    });

    it('a stall signal stays raised, and counts on, while it goes on', () => {
      const [found] = raisedAfter([...quiet, raising, ...quiet.slice(-1), raising], signal);
      expect(found?.signal).toBe(signal);
      expect(found?.count).toBeGreaterThan(count);
    });

    it.each(resets)('a stall signal is gone with its evidence and hint after $name', ({ result }) => {
      const results = [...quiet, raising, result];
      expect(raisedAfter(results)).toEqual([]);
      expect(replanHint(raisedAfter(results))).toBeUndefined();
      expect(ledgerAfter(results)?.stalled).toBe(false);
    });

    it.each(resets)('a stall signal starts from zero after $name', ({ result }) => {
      expect(raisedAfter([...quiet, raising, result, raising], signal)).toEqual([]);
    });

    it.each(keeps)('a stall signal is not ended by $name', ({ result }) => {
      expect(raisedAfter([...quiet, raising, result], signal)[0]?.signal).toBe(signal);
    });
  },
);

describe('a loop of completed and needs_changes', () => {
  const rounds = (count: number) =>
    Array.from({ length: count }, (_, round) => [
      completed({ files_modified: [`src/step-${round}.ts`] }),
      needsChanges(`fix ${'abcdefgh'[round]}`, `test ${'abcdefgh'[round]}`),
    ]).flat();

  it('a loop of completed and needs_changes is flagged at its third round if the findings do not become fewer, with those of that round as evidence', () => {
    expect(raisedAfter(rounds(2))).toEqual([]);
    expect(raisedAfter(rounds(3))).toEqual([
      { signal: 'ping_pong', count: 2, threshold: 2, evidence: ['fix c', 'test c'] },
    ]);
    expect(replanHint(raisedAfter(rounds(3)))).toBe('ping_pong 2: fix c; test c');
  });

  it('a second review with one minor finding in another file is not a loop, and fewer findings never are', () => {
    const review = (...issues: readonly (readonly [file: string, message: string])[]) =>
      reviewer({ issues: issues.map(([file, message]) => ({ severity: 'minor', file, message })) });
    const first = [
      completed(),
      review(['src/a.ts', 'leaks'], ['src/a.ts', 'is slow'], ['src/a.ts', 'is long']),
    ];
    const second = [...first, completed(), review(['src/a.ts', 'odd name'], ['src/b.ts', 'no test'])];
    expect(raisedAfter([...first, completed(), review(['src/b.ts', 'odd name'])])).toEqual([]);
    expect(raisedAfter(second)).toEqual([]);
    expect(raisedAfter([...second, completed(), review(['src/a.ts', 'no comment'])])).toEqual([]);
  });

  it('a second review that finds the same again is a loop, and one that finds as much in the same files', () => {
    const review = (message: string) =>
      reviewer({ issues: [{ severity: 'minor', file: 'src/a.ts', message }] });
    const ping = [{ signal: 'ping_pong', count: 2 }];
    expect(raisedAfter([completed(), review('leaks'), completed(), review('Leaks!')])).toMatchObject(ping);
    expect(raisedAfter([completed(), review('leaks'), completed(), review('is slow')])).toMatchObject(ping);
  });

  it('a loop shows three fixes at most', () => {
    const fixes = ['a', 'b', 'c', 'd', 'e'].map((letter) => `fix ${letter}`);
    const raised = raisedAfter([...rounds(2), completed(), needsChanges(...fixes)]);
    expect(raised[0]?.evidence).toEqual(['fix a', 'fix b', 'fix c']);
  });

  it('a loop counts rounds: a second review of the same work does not count', () => {
    expect(raisedAfter([...rounds(1), needsChanges('z'), needsChanges('y')])).toEqual([]);
  });

  it('a loop counts only work that was reported as done', () => {
    expect(raisedAfter([...rounds(1), failed(), needsChanges('z')])).toEqual([]);
  });
});

describe('required fixes', () => {
  it.each([
    ['case', 'Check the bounds', 'check the BOUNDS'],
    ['punctuation', 'check the bounds', '- check, the "bounds"!'],
    ['white space', 'check the bounds', ' check  the\tbounds '],
    ['numbers', 'check line 10 of v1.2.3', 'check line 4711 of v2.0'],
    ['width', 'check the bounds', 'ｃｈｅｃｋ ｔｈｅ ｂｏｕｎｄｓ'],
  ])('required fixes are the same for all differences of %s', (_what, one, other) => {
    expect(normalised(other)).toBe(normalised(one));
    const raised = raisedAfter([needsChanges(one), needsChanges(other)], 'same_fixes');
    expect(raised).toMatchObject([{ count: 2, evidence: [expect.stringMatching(/ \(2 times\)$/)] }]);
  });

  it.each([
    ['words of other scripts', '检查边界', '检查名称'],
    ['their accents', 'prüfen', 'prufen'],
    ['a number where there was none', 'check line', 'check line 7'],
  ])('required fixes differ by %s', (_what, one, other) => {
    expect(raisedAfter([needsChanges(one), needsChanges(other)], 'same_fixes')).toEqual([]);
  });

  it('required fixes count once for a review that names one twice', () => {
    const twice = needsChanges('fix line 1', 'fix line 2');
    expect(raisedAfter([twice], 'same_fixes')).toEqual([]);
    expect(raisedAfter([twice, twice], 'same_fixes')).toMatchObject([{ count: 2 }]);
  });

  it('required fixes that came back most often come first', () => {
    const raised = raisedAfter(
      [needsChanges('a'), needsChanges('a', 'b'), needsChanges('a', 'b')],
      'same_fixes',
    );
    expect(raised[0]).toMatchObject({ count: 3, evidence: ['a (3 times)', 'b (2 times)'] });
  });
});

describe('tests', () => {
  const raised = (...results: readonly RoleResult[]) => raisedAfter(results, 'same_test');

  it('tests without a failure to quote are named by their command', () => {
    const silent = completed({ tests: [{ command: 'npm test', passed: false }] });
    expect(raised(silent, silent)).toMatchObject([{ evidence: ['npm test (2 times)'] }]);
  });
});

describe('files', () => {
  const done = completed({ files_modified: ['src/a.ts'], tests: [{ command: 'npm test', passed: true }] });
  const broken = completed({ files_modified: ['src/a.ts'], tests: [{ command: 'npm test', passed: false }] });
  const gaveUp = implementer({ status: 'blocked', files_modified: ['src/a.ts'] });

  it('files that completed results with passing tests modify are not a stall, however often and without a review', () => {
    expect(raisedAfter([done, done, done])).toEqual([]);
    expect(raisedAfter(Array.from({ length: 20 }, () => done))).toEqual([]);
  });

  it.each([
    ['a review asked for changes', [done, needsChanges('x'), done, needsChanges('y'), done]],
    ['a review found it blocked', [done, reviewer({ assessment: 'blocked' }), done, needsChanges('x'), done]],
    ['a test failed', [broken, broken, done]],
    ['the result was not completed', [gaveUp, gaveUp, done]],
  ])('files count when they are modified again after %s', (_what, results) => {
    expect(raisedAfter(results, 'same_files')).toEqual([
      { signal: 'same_files', count: 2, threshold: 2, evidence: ['src/a.ts (2 times)'] },
    ]);
  });

  it('files count again for the one result after a review, not for those after it', () => {
    expect(raisedAfter([done, needsChanges('x'), done, done, done], 'same_files')).toEqual([]);
  });
});

describe('evidence of no progress', () => {
  const evidence = (...results: readonly RoleResult[]) => raisedAfter(results, 'non_progress')[0]?.evidence;

  it('evidence of no progress is the first blocker of the newest result, else its summary', () => {
    expect(evidence(blocked('no token'), blocked('no host', 'no disk'))).toEqual(['no host']);
    expect(evidence(blocked('no token'), failed({ summary: 'it broke' }))).toEqual(['it broke']);
  });
});

describe('any results', () => {
  it('any results raise signals that are over their thresholds, each with evidence that came from results', () => {
    let flagged = 0;
    fc.assert(
      fc.property(fc.array(roleResults, { maxLength: 30 }), (results) => {
        const raised = raisedAfter(results);
        flagged += raised.length;
        for (const { count, threshold, evidence } of raised) {
          expect(threshold).toBe(2);
          expect(count).toBeGreaterThanOrEqual(2);
          expect(evidence.length).toBeLessThanOrEqual(3);
        }
        expect(raisedAfter([...results, APPROVED])).toEqual([]);
        expect(raisedAfter([APPROVED, ...results])).toEqual(raised);
      }),
    );
    expect(flagged).toBeGreaterThan(0);
  });

  it('any results keep the counters bounded', () => {
    const busy = (round: number) =>
      completed({
        files_modified: Array.from({ length: 50 }, (_, index) => `src/${round}/${index}.ts`),
        tests: Array.from({ length: 20 }, (_, index) => ({
          command: `test ${'abcdefghij'[round % 10]} ${index}`,
          passed: false,
        })),
      });
    const ledger = ledgerAfter(Array.from({ length: 50 }, (_, round) => busy(round)));
    expect(ledger?.stall.files).toHaveLength(30);
    expect(ledger?.stall.tests).toHaveLength(30);
  });

  it('signals find what begins to repeat itself after more results than they can keep', () => {
    const wide = completed({ files_modified: Array.from({ length: 50 }, (_, index) => `src/${index}.ts`) });
    const late = completed({ files_modified: ['src/late.ts'] });
    const raisedFor = (...results: RoleResult[]) => raisedAfter(results, 'same_files');
    expect(raisedFor(wide, late, needsChanges('a'), late, needsChanges('b'), late)).toMatchObject([
      { evidence: ['src/late.ts (2 times)'] },
    ]);
    const letters = Array.from({ length: 20 }, (_, index) => 'abcdefghijklmnopqrst'[index] ?? '');
    const many = (word: string) => needsChanges(...letters.map((letter) => `${word} ${letter}`));
    const raised = raisedAfter([many('one'), many('two'), needsChanges('late'), needsChanges('late')]);
    expect(raised).toMatchObject([{ signal: 'same_fixes', evidence: ['late (2 times)'] }]);
  });
});
