import { describe, expect, it } from 'vitest';
import { hasCorpus, parseCorpus, parseFixture, readCorpus } from './support.js';

/** Plans in the dialects of the product's own specifications, task for task: id, status, text and words. */
const TASKS: Readonly<
  Record<string, readonly (readonly [id: string, status: string, text: string, prompt?: string])[]>
> = {
  speckit: [
    [
      'T001',
      'completed',
      'Create the project in `package.json`',
      'Phase 1: Setup:\n**Purpose**: a project that builds\n**Checkpoint**: the build is green',
    ],
    [
      'T002',
      'pending',
      'Configure the linter',
      'Phase 1: Setup:\n**Purpose**: a project that builds\n**Checkpoint**: the build is green',
    ],
    [
      'T003',
      'pending',
      'Test sums in tests/sums.ts',
      'Phase 3: User Story 1 — Expressions (Priority: P1):\n**Goal**: sums and products are parsed\n**Independent Test**: parse `1 + 2 * 3` and compare the tree',
    ],
    [
      'T004',
      'pending',
      'Test products (depends on T003)',
      'Phase 3: User Story 1 — Expressions (Priority: P1):\n**Goal**: sums and products are parsed\n**Independent Test**: parse `1 + 2 * 3` and compare the tree',
    ],
    [
      'T005',
      'pending',
      'Parse sums in src/sums.ts',
      'Phase 3: User Story 1 — Expressions (Priority: P1):\n**Goal**: sums and products are parsed\n**Independent Test**: parse `1 + 2 * 3` and compare the tree\nImplementation for User Story 1:\n**Checkpoint**: expressions work by themselves',
    ],
  ],
  'spec-workflow': [
    [
      '1',
      'completed',
      'Create the types',
      '- File: src/types.ts\n- All types are readonly\n- Purpose: contracts for the store\n- _Leverage: src/base.ts (Fact, Store)_\nRole: Developer | Task: write `fact_id` as a hash | Success: it compiles',
    ],
    [
      '2',
      'pending',
      'Implement the store',
      '- File: src/store.ts\nRole: Developer\n\nSuccess:\n- [ ] not a task, a criterion\n- mark it [x] in tasks.md',
    ],
  ],
  'numbered-headings': [
    ['1', 'in-progress', 'Priority'],
    ['1#1', 'pending', 'Add the field'],
    ['1#2', 'completed', 'Show it in the list'],
    ['2', 'pending', 'Dependencies', 'The list of ids is checked for circles.'],
    ['2#1', 'pending', 'Add the command'],
  ],
  'numbered-bold': [
    ['T-22.1', 'pending', 'results with scores', '- Assert the header'],
    ['T-22.2', 'pending', 'no results'],
    ['1', 'pending', '**Write tests** (red)', '- Mock the search'],
    ['2', 'pending', '**Implement** (green)'],
  ],
};

describe.each(Object.entries(TASKS))('the plan %s', (name, expected) => {
  it('has these tasks, with the words of their bodies and of the headings above them', () => {
    const { tasks } = parseFixture(name);
    expect(
      tasks.map(({ id, status, text, prompt }) => [
        id,
        status,
        text,
        ...(prompt === undefined ? [] : [prompt]),
      ]),
    ).toEqual(expected);
  });
});

it('the words for all tasks end at the first heading that holds only some of them', () => {
  expect(parseFixture('speckit').preamble).toBe(
    '# Tasks: Parser\n**Input**: the design in specs/parser\n**Tests**: every error has one',
  );
  expect(parseFixture('numbered-headings').preamble).toMatch(/2\. \*\*Dependencies\*\*$/);
  expect(parseFixture('spec-workflow').preamble).toBeUndefined();
});

/** How a person finds the tasks of the specifications: a line each, its id or place, its status and its text. */
const SPECS: readonly (readonly [spec: string, task: RegExp, count: number])[] = [
  ['session-fact-tracker.tasks', /^- \[(?<box>[ x])\] (?<id>\d+)\. (?<text>.+)$/gm, 7],
  ['prellm-compaction.tasks', /^- \[(?<box>[ x])\] (?<id>T\d+) (?:\[US\d\] )?(?<text>.+)$/gm, 19],
  ['session-task-management.spec', /^(?:### (?<id>\d+)\. |- \[(?<box>[ x])\] )(?<text>.+)$/gm, 81],
];

describe.runIf(hasCorpus).each(SPECS)('the specification %s', (spec, task, count) => {
  it('is read task for task', () => {
    let heading = '';
    let place = 0;
    const expected = [...readCorpus(`../../specs/${spec}.md`).matchAll(task)].map(({ groups = {} }) => {
      const { id, box, text } = groups;
      place = id === undefined ? place + 1 : 0;
      heading = id ?? heading;
      return [id ?? `${heading}#${place}`, box === 'x' ? 'completed' : 'pending', text];
    });
    const { tasks } = parseCorpus(`../../specs/${spec}.md`);
    expect(tasks.map(({ id, status, text }) => [id, status, text])).toEqual(expected);
    expect(tasks).toHaveLength(count);
  });
});
