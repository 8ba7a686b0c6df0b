import { describe, expect, it } from 'vitest';
import { documentOf } from '../../../src/ledger/plan-document.js';
import type { ParsedTasks } from '../../../src/ledger/tasks-md/parsed-tasks.js';
import { byId, corpusFiles, hasCorpus, parseCorpus } from './support.js';

/**
 * What each file comes to: its tasks, how many are completed, in progress and pending, how many of them only hold others
 * (chapters over boxes), how many have no id, the lines that were placed by a guess, and those that were not placed.
 */
const EXPECTED: Readonly<Record<string, string>> = {
  'bmad-stories.md':
    '77 tasks: 63 completed, 1 in-progress, 13 pending; 1 group; 66 tasks without an id, 0 guesses, 0 lines not placed',
  'cursor.plan.md':
    '0 tasks: 0 completed, 0 in-progress, 0 pending; 0 groups; 0 tasks without an id, 0 guesses, 15 lines not placed',
  'emoji-status.md':
    '26 tasks: 20 completed, 0 in-progress, 6 pending; 7 groups; 5 tasks without an id, 0 guesses, 23 lines not placed',
  'gsd-excerpt.md':
    '10 tasks: 5 completed, 0 in-progress, 5 pending; 3 groups; 0 tasks without an id, 1 guess, 0 lines not placed',
  'iteratr-unnumbered-boxes.md':
    '81 tasks: 0 completed, 0 in-progress, 81 pending; 17 groups; 64 tasks without an id, 0 guesses, 0 lines not placed',
  'kiro.md':
    '99 tasks: 99 completed, 0 in-progress, 0 pending; 0 groups; 0 tasks without an id, 0 guesses, 0 lines not placed',
  'korean-todo.md':
    '443 tasks: 57 completed, 0 in-progress, 386 pending; 7 groups; 436 tasks without an id, 4 guesses, 0 lines not placed',
  'linear-checklist.md':
    '83 tasks: 7 completed, 0 in-progress, 76 pending; 8 groups; 47 tasks without an id, 3 guesses, 2 lines not placed',
  'phases-not-started.md':
    '10 tasks: 4 completed, 1 in-progress, 5 pending; 3 groups; 7 tasks without an id, 0 guesses, 1 line not placed',
  'spec-context-inline-prompts.md':
    '7 tasks: 7 completed, 0 in-progress, 0 pending; 0 groups; 0 tasks without an id, 0 guesses, 0 lines not placed',
  'spec-context-prompt-blocks.md':
    '7 tasks: 7 completed, 0 in-progress, 0 pending; 0 groups; 0 tasks without an id, 0 guesses, 0 lines not placed',
  'specify-f010.md':
    '9 tasks: 0 completed, 0 in-progress, 9 pending; 0 groups; 0 tasks without an id, 0 guesses, 0 lines not placed',
  'specify-headings-emoji-status.md':
    '13 tasks: 13 completed, 0 in-progress, 0 pending; 0 groups; 4 tasks without an id, 0 guesses, 0 lines not placed',
  'speckit-mojibake.md':
    '19 tasks: 0 completed, 0 in-progress, 19 pending; 0 groups; 0 tasks without an id, 0 guesses, 0 lines not placed',
  'speckit-phases.md':
    '99 tasks: 82 completed, 0 in-progress, 17 pending; 8 groups; 0 tasks without an id, 0 guesses, 0 lines not placed',
  'taskmaster-task_001.txt':
    '0 tasks: 0 completed, 0 in-progress, 0 pending; 0 groups; 0 tasks without an id, 0 guesses, 1 line not placed',
  'taskmaster-tasks.json':
    '0 tasks: 0 completed, 0 in-progress, 0 pending; 0 groups; 0 tasks without an id, 0 guesses, 1 line not placed',
};

const counted = (count: number, thing: string): string =>
  `${count} ${thing}${count === 1 ? '' : thing.endsWith('s') ? 'es' : 's'}`;

function inWords(parsed: ParsedTasks): string {
  const { tasks } = parsed;
  const { problems: lost, guesses = 0, unnamed = 0 } = documentOf(parsed, { mtimeMs: 0, hash: '' });
  const count = (status: string): string =>
    `${tasks.filter((task) => task.status === status).length} ${status}`;
  return [
    `${counted(tasks.length, 'task')}: ${count('completed')}, ${count('in-progress')}, ${count('pending')}`,
    counted(tasks.filter(({ group }) => group).length, 'group'),
    `${counted(unnamed, 'task')} without an id, ${counted(guesses, 'guess')}, ${counted(lost, 'line')} not placed`,
  ].join('; ');
}

describe.skipIf(!hasCorpus)(
  `real task files${hasCorpus ? '' : ' (../shared/data/tasks-md is not there)'}`,
  () => {
    it.each(Object.entries(EXPECTED))('the parser reads the real task file %s', (name, expected) => {
      expect(inWords(parseCorpus(name))).toBe(expected);
    });

    it('the expected counts name every real task file', () => {
      expect(Object.keys(EXPECTED).toSorted()).toEqual(corpusFiles());
    });

    it('the parser names the boxes below numbered headings after them', () => {
      const parsed = parseCorpus('iteratr-unnumbered-boxes.md');
      expect(byId(parsed, '6#5')).toMatchObject({
        line: 265,
        parent: '6',
      });
    });

    it('the parser reads every prompt whole, inline and in blocks', () => {
      for (const { prompt } of parseCorpus('spec-context-inline-prompts.md').tasks) {
        expect(prompt).toMatch(
          /^- File: .*\n- Purpose: .*\n- _Leverage: .*\nImplement the task .* using the loaded reviewer guide\.$/s,
        );
      }
      for (const { prompt } of parseCorpus('spec-context-prompt-blocks.md').tasks) {
        expect(prompt).toMatch(
          /^- File: .*\nImplement the task .*\n\nRestrictions:\n- .*\n\nSuccess:\n- .* in tasks\.md \[x\]$/s,
        );
      }
      expect(byId(parseCorpus('spec-context-prompt-blocks.md'), '7')).toMatchObject({
        requirements: ['1', '2', '3', '4', '5', '6'],
      });
    });

    it.each([
      ['kiro.md', 80],
      ['speckit-phases.md', 83],
      ['bmad-stories.md', 1],
      ['emoji-status.md', 20],
      ['korean-todo.md', 80],
      ['specify-f010.md', 9],
    ])('the parser gives the tasks of %s that are described their description: %i', (name, count) => {
      const given = parseCorpus(name).tasks.filter(({ prompt }) => prompt !== undefined);
      expect(given).toHaveLength(count);
    });

    it('the parser keeps the description of a Kiro task in order, without its requirements', () => {
      expect(byId(parseCorpus('kiro.md'), '10.1').prompt?.split('\n').slice(0, 3)).toEqual([
        '- `fetchSitemap()` parsing sitemap XML including lastmod,',
        '  changefreq, and priority fields',
        '- `checkChangelog()` with timestamp comparison',
      ]);
      expect(byId(parseCorpus('kiro.md'), '10.1').prompt).not.toMatch(/Requirements/);
    });

    it('the parser takes the status of a heading from the table, and from the list of marks', () => {
      expect(byId(parseCorpus('specify-f010.md'), 'T-10.5')).toMatchObject({
        line: 82,
        statusFrom: 'table',
        requirements: ['FR-5'],
        dependsOn: ['T-10.2', 'T-10.3'],
      });
      expect(byId(parseCorpus('specify-headings-emoji-status.md'), 'T-22.4')).toMatchObject({
        line: 57,
        statusFrom: 'list',
      });
    });
  },
);
