import { describe, expect, it } from 'vitest';
import { parseTasksMd } from '../../../src/ledger/tasks-md/parse-tasks-md.js';
import * as fc from '../../support/properties.js';
import { OUTLINES } from './outlines.js';
import { fixture } from './support.js';

const FIELDS = ['_Prompt: ', '_Prompt: |', 'Status: '];
const TABLE = ['| ID | Status |', '|---|---|', '| 1 | x |'];
/** Lines that mean something, in any order and depth, between lines that mean nothing. */
const line = fc.oneof(
  fc.constantFrom(...Object.keys(OUTLINES).flatMap((name) => fixture(name).split('\n'))),
  fc
    .tuple(
      fc.constantFrom('', '  ', '      ', '\t', '> ', '> - '),
      fc.constantFrom('- ', '* ', '1. ', '3) ', '・', '## ', ''),
      fc.constantFrom('[ ] ', '[x]', '[-] ', '[?] ', '[ ]* ', '［x］', '✅ ', '~~', '**', ''),
      fc.constantFrom('1. ', '1.1 ', '1.1.1 ', 'T001 ', 'T-2.1: ', '１、', ...FIELDS, ''),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
    )
    .map((parts) => parts.join('')),
  fc.constantFrom('```', '~~~', '<!--', '-->', '<div>', '---', '===', ...TABLE, 'end_', ''),
);
const document = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc
    .tuple(fc.array(line, { maxLength: 40 }), fc.constantFrom('\n', '\r\n', '\r'))
    .map(([lines, end]) => lines.join(end)),
);

const check = (holds: (text: string) => void): void => {
  fc.assert(fc.property(document, holds), { numRuns: 1500 });
};

describe('whatever the text', () => {
  it('the parser never throws, gives the same result again, and says so when there is no task', () => {
    check((text) => {
      const parsed = parseTasksMd(text);
      expect(parseTasksMd(text)).toEqual(parsed);
      expect(parsed.problems.some(({ code }) => code === 'no_tasks')).toBe(parsed.tasks.length === 0);
    });
  });

  it('the parser drops no box and no mark in silence: each is a task, part of one, or reported', () => {
    const marked = fc
      .tuple(
        fc.constantFrom('- [ ] ', '- [x] ', '* [-] ', '1. [ ] ', '- ✅ ', '- 🚧 ', '2. ✅ ', '✅ '),
        fc.constantFrom('T1$ do $', 'do $', '1.$ do $', '**Do $** it', 'Phase 2$: do $'),
      )
      .map((parts) => parts.join(''));
    const box = fc
      .tuple(fc.nat(14), fc.constantFrom('', '> ', '- ', '1. '), fc.constantFrom(' ', 'x', '-', '~', '?'))
      .map(([indent, before, mark]) => `${' '.repeat(indent)}${before}- [${mark}] T$ do it`);
    const other = fc.constantFrom(
      ...['', 'text', '# Part', '## Phase 1: Part', '### ✅ Done', 'more text', '---'],
      ...['> quote', '- item', '1. item', '<div>', '| a |', '|---|'],
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(marked, box, other), { maxLength: 25 }), (parts) => {
        const all = parts.map((part, at) => part.replaceAll('$', `${at + 1}`));
        const { tasks, problems } = parseTasksMd(all.join('\n'));
        const unseen = all.filter((text, at) => {
          const isReported = problems.some(
            ({ line, lastLine = line, placed }) => !placed && line <= at + 1 && at + 1 <= lastLine,
          );
          const isKept = tasks.some(({ line, prompt }) => line === at + 1 || prompt?.includes(text));
          return /\[.\]|✅ .*\d|🚧/u.test(text) && !isReported && !isKept;
        });
        expect(unseen).toEqual([]);
      }),
      {
        numRuns: 2000,
        // Below a heading that is there twice.
        examples: [[['## Phase 1: Part', '✅ T$ do it', '## Phase 1: Part', 'more text']]],
      },
    );
  });

  it('the parser keeps every line within the text, and both lists in order', () => {
    check((text) => {
      const { tasks, problems } = parseTasksMd(text);
      const last = text.split(/\r\n|\r|\n/).length;
      for (const list of [tasks, problems]) {
        const lines = list.map((each) => each.line);
        expect(lines).toEqual(lines.toSorted((left, right) => left - right));
        for (const each of lines) expect(each >= 1 && each <= last && Number.isInteger(each)).toBe(true);
      }
    });
  });

  it('the parser gives every task an id of its own, on one line, and a parent that stands before it', () => {
    check((text) => {
      const seen = new Set<string>();
      for (const { id, parent } of parseTasksMd(text).tasks) {
        expect(seen.has(id)).toBe(false);
        expect(id).toMatch(/^\P{Cc}+$/u);
        expect(parent === undefined || seen.has(parent)).toBe(true);
        seen.add(id);
      }
    });
  });
});
