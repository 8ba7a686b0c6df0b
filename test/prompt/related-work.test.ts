import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { WordVectors } from '../../src/memory/search/word-vectors.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { emptyState } from '../../src/memory/session/session-state.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { implementer, observer, recorded, reviewer, stored } from '../support/builders.js';
import { dispatchRequest, partsOf } from './parts.js';

const WORDS = new WordVectors(readFileSync(new URL('../../scripts/words/word-vectors.bin', import.meta.url)));

type Work = readonly [summary: string, files: readonly string[], more?: object];

function notesAfter(work: readonly Work[], taskPrompt: string, words?: typeof WORDS) {
  const events = work.map(([summary, files_modified, more], at) =>
    recorded(
      at + 1,
      implementer({ task_id: `a${at}`, summary, files_modified: [...files_modified], ...more }),
    ),
  );
  const state = stored(events).reduce(evolve, emptyState('demo'));
  const asked = dispatchRequest({ taskId: '9', taskPrompt });
  return partsOf(compilePrompt(state, asked, undefined, undefined, words)).notes;
}

const related = (work: readonly Work[], taskPrompt: string, words?: typeof WORDS) =>
  notesAfter(work, taskPrompt, words)['Related work'] ?? [];
const others = (count: number): Work[] =>
  Array.from({ length: count }, (_, at) => [`Tune part ${at}`, ['src/index.ts', `bench/part${at}.ts`]]);

describe('related work', () => {
  it('work that shares only a busy file or a stock phrase gets no line', () => {
    const work: Work[] = [
      ...others(60),
      ['Lint fixes', ['src/cookie.ts']],
      ['Parse cookies without a value', ['src/cookie.ts', 'src/index.ts']],
      ['Release 6.0.5', ['src/cookie.ts', 'package.json']],
    ];
    expect(related(work, 'Cookies with a quoted value are not parsed')).toEqual([
      '- Parse cookies without a value | Files: src/cookie.ts, src/index.ts [task:a61, 1 Jan]',
    ]);
  });

  it('work on a likely file that shares one word gets a line only if its meaning is near, too', () => {
    const work: Work[] = [
      ['Abort a stalled TCP connection', ['src/http2.ts']],
      ['Close issues that are stale', ['src/http2.ts']],
      ['Rename a helper of HTTP2', ['src/http2.ts']],
      ...others(60),
    ];
    const task = 'Close the http2 connection on a timeout of the server while a client reads its answer';
    const lines = related(work, task, WORDS).join('\n');
    expect(lines).toContain('Abort a stalled TCP connection');
    expect(lines).not.toMatch(/issues|Rename/);
    // Among few results, and where it is much of the task, one word is enough.
    const lexer: Work = ['Lexer written', ['lexer.txt']];
    expect(related([lexer, ...others(40)], 'Write the tests of the lexer', WORDS)).toHaveLength(1);
    const invoice: Work = ['Invoice PDF export', ['src/invoice.ts']];
    expect(related([invoice, ...others(60)], 'Fix the bug in the invoice', WORDS)).toHaveLength(1);
  });

  it('a likely file that the task names says so', () => {
    const work: Work[] = [['Parse cookies of a request', ['src/cookie.ts']], ...others(9)];
    const { 'Likely files': files = [] } = notesAfter(work, 'Parse cookies of a request in cookie.ts');
    expect(files).toEqual(['- src/cookie.ts (the task names it)']);
  });

  it('a prompt has at most eight lines of related work, five likely files and three things left to do', () => {
    const words = 'alpha bravo charlie delta echo foxtrot golf hotel india juliet'.split(' ');
    const work = Array.from(
      { length: 30 },
      (_, at): Work => [
        `Parse the cookie attribute ${words[at % 10]} in way ${at}`,
        ['src/cookie.ts', `src/cookie/part${at}.ts`],
        { follow_up_actions: [`Document the cookie attribute ${words[at % 10]} number ${at}`] },
      ],
    );
    const notes = notesAfter(work, `Parse each cookie attribute: ${words.join(' ')}`);
    expect(notes['Related work']?.length).toBeGreaterThan(3);
    expect(notes['Related work']?.length).toBeLessThanOrEqual(8);
    expect(notes['Likely files']?.length ?? 0).toBeLessThanOrEqual(5);
    expect(notes['Left to do by other tasks']).toHaveLength(3);
  });

  it('of two results on the same files the newer one comes first', () => {
    const work: Work[] = [
      ['Parse cookies of a request', ['src/cookie.ts']],
      ['Read the cookie jar lazily', ['src/cookie.ts']],
    ];
    expect(related(work, 'Parse cookies of a request again').map((line) => line.slice(2, 8))).toEqual([
      'Read t',
      'Parse ',
    ]);
  });

  it('a revert stands in the place of what it undid, unless it was undone itself', () => {
    const files = ['src/cookie.ts'];
    const done: Work = ['Cache parsed cookies (#12)', [...files, 'src/jar.ts']];
    const undone: Work = ['Revert "Cache parsed cookies (#12)" (#14)', files];
    const lines = related([done, undone], 'Cache the cookies that are parsed');
    expect(lines).toEqual([expect.stringMatching(/^- Revert "Cache parsed cookies/)]);
    const again: Work = ['Revert "Revert "Cache parsed cookies (#12)" (#14)" (#15)', files];
    const restored = related([done, undone, again], 'Cache the cookies that are parsed');
    expect(restored.some((line) => line.startsWith('- Cache parsed cookies'))).toBe(true);
  });

  it('each turn of a conversation is a line of its own, with its own files', () => {
    const turn = (at: number, summary: string, ...files_modified: string[]) =>
      recorded(at, observer({ task_id: 'claude-0a1b2c', summary, files_modified }));
    const turns = [
      turn(1, 'Parse cookies without a value', 'src/cookie.ts'),
      turn(2, 'Bake the sourdough bread slowly', 'src/oven.ts'),
      turn(3, 'Parse cookies of a request', 'src/jar.ts'),
    ];
    const state = stored(turns).reduce(evolve, emptyState('demo'));
    const asked = dispatchRequest({ taskId: '9', taskPrompt: 'Parse cookies with a quoted value' });
    expect(partsOf(compilePrompt(state, asked)).notes['Related work']).toEqual([
      '- Parse cookies without a value | Files: src/cookie.ts [claude, 1 Jan]',
      '- Parse cookies of a request | Files: src/jar.ts [claude, 1 Jan]',
    ]);
  });

  it('a review that a later round answered gets no line, and what an observer remarks on the task gets one', () => {
    const [summary, files_modified] = ['Quoted cookie values are parsed', ['src/cookie.ts']];
    const told = [
      recorded(1, implementer({ task_id: '1', summary: 'Cookie values are parsed', files_modified })),
      recorded(
        2,
        reviewer({
          task_id: '1',
          assessment: 'needs_changes',
          summary: 'Quotes in a cookie are parsed away',
        }),
      ),
      recorded(3, observer({ task_id: '9', summary: 'The proxy strips them' })),
      recorded(4, implementer({ task_id: '1', summary, files_modified })),
    ];
    const asked = dispatchRequest({ taskId: '9', taskPrompt: 'Parse cookies with quotes' });
    const relatedAfter = (count: number) =>
      partsOf(compilePrompt(stored(told.slice(0, count)).reduce(evolve, emptyState('demo')), asked)).notes[
        'Related work'
      ]?.join('\n');
    expect(relatedAfter(3)).toContain('Quotes in a cookie are parsed away');
    expect(relatedAfter(4)).not.toContain('Quotes in a cookie are parsed away');
    expect(relatedAfter(4)).toContain('- The proxy strips them');
  });

  it('a line ends with its task, the short commit and the day on which it happened', () => {
    const more = { commit: '41b2c7d9e0f1', at: '2025-03-03T23:30:00+02:00' };
    expect(related([['Parse cookies', ['src/cookie.ts'], more]], 'Parse the cookies')).toEqual([
      '- Parse cookies | Files: src/cookie.ts [task:a0 41b2c7d, 3 Mar 2025]',
    ]);
    const later = { at: '2031-01-01T00:00:00Z' };
    expect(related([['Parse cookies', ['src/cookie.ts'], later]], 'Parse the cookies')).toEqual([
      '- Parse cookies | Files: src/cookie.ts [task:a0, 1 Jan]',
    ]);
  });
});
