import { describe, expect, it } from 'vitest';
import type { ParsedTask } from '../../../src/ledger/tasks-md/parsed-tasks.js';
import { byId, hasCorpus, parseCorpus } from './support.js';

/** Counted by hand in each file. `groups` are headings whose status comes from their boxes. */
const EXPECTED = {
  'iteratr-unnumbered-boxes': {
    total: 81,
    completed: 0,
    pending: 81,
    groups: 17,
    problems: { checkbox_without_id: 64 },
  },
  'spec-context-inline-prompts': { total: 7, completed: 7, pending: 0, groups: 0, problems: {} },
  'spec-context-prompt-blocks': { total: 7, completed: 7, pending: 0, groups: 0, problems: {} },
  'specify-f010': { total: 9, completed: 0, pending: 9, groups: 0, problems: {} },
  'specify-headings-emoji-status': {
    total: 13,
    completed: 13,
    pending: 0,
    groups: 0,
    problems: { checkbox_without_id: 4 },
  },
  'speckit-mojibake': { total: 19, completed: 0, pending: 19, groups: 0, problems: { misdecoded_text: 1 } },
};

describe.skipIf(!hasCorpus)(
  `real task files${hasCorpus ? '' : ' (../shared/data/tasks-md is not there)'}`,
  () => {
    it.each(Object.entries(EXPECTED))('the parser reads the real task file %s', (name, expected) => {
      const { tasks, problems } = parseCorpus(name);
      const count = (is: (task: ParsedTask) => boolean): number => tasks.filter(is).length;
      const codes: Record<string, number> = {};
      for (const { code } of problems) codes[code] = (codes[code] ?? 0) + 1;
      expect({
        total: tasks.length,
        completed: count(({ status }) => status === 'completed'),
        pending: count(({ status }) => status === 'pending'),
        groups: count(({ statusFrom }) => statusFrom === 'children'),
        problems: codes,
      }).toEqual(expected);
    });

    it('the parser names the boxes below numbered headings after them', () => {
      const parsed = parseCorpus('iteratr-unnumbered-boxes');
      expect(byId(parsed, '6#5')).toMatchObject({
        line: 265,
        parent: '6',
        section: '6. Task Count Variables',
      });
    });

    it('the parser reads every prompt whole, inline and in blocks', () => {
      for (const { prompt } of parseCorpus('spec-context-inline-prompts').tasks) {
        expect(prompt).toMatch(/^Implement the task .* using the loaded reviewer guide\.$/s);
      }
      for (const { prompt } of parseCorpus('spec-context-prompt-blocks').tasks) {
        expect(prompt).toMatch(
          /^Implement the task .*\n\nRestrictions:\n- .*\n\nSuccess:\n- .* in tasks\.md \[x\]$/s,
        );
      }
      expect(byId(parseCorpus('spec-context-prompt-blocks'), '7')).toMatchObject({
        requirements: ['1', '2', '3', '4', '5', '6'],
        files: [
          'src/tools/workflow/dispatch-ledger.test.ts',
          'src/tools/workflow/dispatch-runtime.test.ts',
          'src/tools/workflow/dispatch-runtime.integration.test.ts',
        ],
      });
    });

    it('the parser takes the status of a heading from the table, and from the list of marks', () => {
      expect(byId(parseCorpus('specify-f010'), 'T-10.5')).toMatchObject({
        line: 82,
        statusFrom: 'table',
        labels: ['T'],
        requirements: ['FR-5'],
        dependsOn: ['T-10.2', 'T-10.3'],
        section: 'Group 3: Lifecycle',
      });
      expect(byId(parseCorpus('specify-headings-emoji-status'), 'T-22.4')).toMatchObject({
        line: 57,
        statusFrom: 'list',
      });
    });

    it('the parser reads the story marker, and puts the mis-decoded dash right', () => {
      expect(byId(parseCorpus('speckit-mojibake'), 'T013')).toMatchObject({
        labels: ['US3'],
        section: 'Implementation for User Story 3',
      });
    });
  },
);
