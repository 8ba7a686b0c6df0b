import { describe, expect, it } from 'vitest';
import { documentOf } from '../../../src/ledger/plan-document.js';
import type { ParsedTasks } from '../../../src/ledger/tasks-md/parsed-tasks.js';
import { corpusFiles, hasCorpus, parseCorpus } from './support.js';

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
  },
);
