import { describe, expect, it } from 'vitest';
import { parseTasksMd } from '../../../src/ledger/tasks-md/parse-tasks-md.js';
import * as fc from '../../support/properties.js';
import { OUTLINES } from './outlines.js';
import { fixture } from './support.js';

/** Lines that mean something, in any order and depth, between lines that mean nothing. */
const line = fc.oneof(
  fc.constantFrom(...Object.keys(OUTLINES).flatMap((name) => fixture(name).split('\n'))),
  fc
    .tuple(
      fc.constantFrom('', '  ', '      ', '\t', '> ', '> - '),
      fc.constantFrom('- ', '* ', '1. ', '3) ', '・', '## ', ''),
      fc.constantFrom('[ ] ', '[x]', '[-] ', '[?] ', '[ ]* ', '［x］', '✅ ', '~~', '**', ''),
      fc.constantFrom(
        '1. ',
        '1.1 ',
        '1.1.1 ',
        'T001 ',
        'T-2.1: ',
        '１、',
        '_Prompt: ',
        '_Prompt: |',
        'Status: ',
        '',
      ),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
    )
    .map((parts) => parts.join('')),
  fc.constantFrom(
    '```',
    '~~~',
    '<!--',
    '-->',
    '<div>',
    '---',
    '===',
    '| ID | Status |',
    '|---|---|',
    '| 1 | x |',
    'end_',
    '',
  ),
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

  it('the parser says of every line once whether it is a task, part of one, prose or a reported problem', () => {
    check((text) => {
      const { tasks, problems, lines } = parseTasksMd(text);
      const all = text.split(/\r\n|\r|\n/);
      expect(lines).toHaveLength(all.length > 1 && all.at(-1) === '' ? all.length - 1 : all.length);
      const ofTasks = new Set(tasks.map(({ line }) => line));
      const reported = new Set(
        problems
          .filter(({ placed, code }) => !placed && code !== 'no_tasks')
          .flatMap(({ line, lastLine = line }) =>
            Array.from({ length: lastLine - line + 1 }, (_, at) => line + at),
          ),
      );
      lines.forEach((role, at) => {
        const line = at + 1;
        expect(role === 'task').toBe(ofTasks.has(line));
        if (!ofTasks.has(line)) expect(role === 'problem').toBe(reported.has(line));
      });
    });
  });

  it('the parser leaves no box and no mark of a list in what it calls prose', () => {
    const marked = fc
      .tuple(
        fc.constantFrom('- [ ] ', '- [x] ', '* [-] ', '1. [ ] ', '- ✅ ', '- 🚧 ', '2. ✅ ', '✅ '),
        fc.constantFrom('T001 do it', 'do it', '1.2 do it', '**Do** it', 'Phase 2: do it'),
      )
      .map((parts) => parts.join(''));
    const other = fc.constantFrom(
      '',
      'text',
      '# Part',
      '## Phase 1: Part',
      '### ✅ Done',
      'more text',
      '---',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(marked, other), { maxLength: 25 }), (all) => {
        const { lines } = parseTasksMd(all.join('\n'));
        const unseen = all.filter(
          (line, at) => /^(?:[-*] |\d\. )?(?:\[.\]|✅|🚧)/u.test(line) && lines[at] === 'prose',
        );
        expect(unseen).toEqual([]);
      }),
      {
        numRuns: 1000,
        // Below a heading that is there twice.
        examples: [[['## Phase 1: Part', '✅ T001 do it', '## Phase 1: Part', 'more text']]],
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
      const seen = new Map<string, number>();
      for (const { id, parent, depth } of parseTasksMd(text).tasks) {
        expect(seen.has(id)).toBe(false);
        expect(id).toMatch(/^\P{Cc}+$/u);
        expect(depth).toBe(parent === undefined ? 0 : (seen.get(parent) ?? Number.NaN) + 1);
        seen.set(id, depth);
      }
    });
  });

  it('the parser drops no checkbox in silence, whatever Markdown makes of its surroundings', () => {
    const box = fc
      .tuple(fc.nat(14), fc.constantFrom('', '> ', '- ', '1. '), fc.constantFrom(' ', 'x', '-', '~', '?'))
      .map(([indent, before, mark]) => ({ before: `${' '.repeat(indent)}${before}- [${mark}] ` }));
    const other = fc.constantFrom(
      '',
      'text',
      '# Part',
      '## 1. Part',
      '---',
      '> quote',
      '- item',
      '1. item',
      '<div>',
      '| a |',
      '|---|',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(box, other), { maxLength: 25 }), (parts) => {
        const text = parts
          .map((part, at) => (typeof part === 'string' ? part : `${part.before}T${at} do it`))
          .join('\n');
        const expected = parts.flatMap((part, at) => (typeof part === 'string' ? [] : [`T${at}`]));
        const { tasks } = parseTasksMd(text);
        expect(tasks.filter(({ origin }) => origin === 'checkbox').map(({ id }) => id)).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });
});
