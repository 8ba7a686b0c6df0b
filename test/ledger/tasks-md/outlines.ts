/** What each fixture must come to: its tasks as an outline, its problems as `<line> <code>`. Written by hand. */
export const OUTLINES: Record<string, { tasks: string[]; problems: string[] }> = {
  boxes: {
    tasks: [
      ...['1 pending', '2 completed', '3 completed', '4 in-progress', '5 in-progress', '6 in-progress'],
      ...['7 pending blocked', '8 pending', '9 completed', '10 completed', 'T011 pending', '12 pending'],
      ...['13 pending', '14 completed', '15 completed', '16 completed'],
    ],
    problems: ['14 unknown_marker'],
  },
  'optional-and-parallel': {
    tasks: [
      ...['2 completed', '  2.2 pending optional', '  2.3 completed', '  2.4 pending optional'],
      ...['T010 pending', 'T011 pending', '3.1 pending', 'T012 pending', 'T013 pending cancelled'],
    ],
    problems: [],
  },
  ids: {
    tasks: [
      ...['1 pending', '2 pending'],
      ...['3 pending', '  2.1 pending', '    2.1.4 pending'],
      ...['T001 pending', 'T-22.1 pending', 'TASK-7 pending', '8 pending', 'B-01 pending'],
      ...['PROJ-123 pending', 'T040 pending', '#1 pending', '#2 pending', '#3 pending', '#4 pending'],
    ],
    problems: ['13 checkbox_without_id'],
  },
  headings: {
    tasks: [
      ...['T001 completed', 'T002 completed', 'T003 completed'],
      ...['T004 in-progress', '  5 in-progress', '    5.1 completed', '    5.2 pending'],
      ...['T006 pending', 'T080 pending'],
    ],
    problems: ['22 no_status'],
  },
  'headings-openspec': {
    tasks: ['1 completed', '  1.1 completed', '  1.2 completed', '2 pending', '  2.1 pending'],
    problems: [],
  },
  table: {
    tasks: [],
    problems: [
      ...['1 no_tasks', '5 mark_without_id', '6 mark_without_id', '7 mark_without_id'],
      ...['8 mark_without_id', '9 mark_without_id', '10 unknown_mark', '15 not_a_task', '19 not_a_task'],
    ],
  },
  'table-and-headings': {
    tasks: ['T-1.1 completed', 'T-1.2 pending', 'T-1.3 completed'],
    problems: ['12 status_conflict'],
  },
  'emoji-lists': {
    tasks: [],
    problems: [
      '1 mark_without_id',
      '1 no_tasks',
      ...[2, 3, 4, 5, 6, 7, 8, 10, 11].map((line) => `${line} mark_without_id`),
    ],
  },
  prompts: {
    tasks: [
      ...['1 completed', '2 in-progress', '3 pending', '4 pending'],
      ...['5 pending', '  5.1 pending'],
      '6 pending',
    ],
    problems: ['24 unclosed_field'],
  },
  nesting: {
    tasks: [
      ...['1 pending', '  1.1 pending', '    1.1.1 pending'],
      ...['2 pending', '  2.1 pending', '    2.1.1 pending'],
      ...['3 pending', '  3.1 pending'],
      ...['4 pending', '  4.1 pending'],
      ...['5 pending', '  5.1 pending'],
      ...['6 pending', '  6.1 pending'],
      ...['7 pending', '  7.1 pending'],
    ],
    problems: [],
  },
  ordered: {
    tasks: [
      '1 completed',
      ...['2 pending', '  2.1 completed', '  2.2 pending'],
      ...['T003 pending', '1~2 pending', '2~2 pending'],
    ],
    problems: ['9 duplicate_id', '10 duplicate_id'],
  },
  fences: {
    tasks: ['4 pending'],
    problems: ['4 not_a_task', '14 not_a_task', '18 not_a_task'],
  },
  duplicates: {
    tasks: [
      ...['1 pending', '1~2 completed', 'build#1 pending', 'build#2 pending'],
      ...['ship#1 pending', '  ship#1#1 pending'],
      '1~3 pending',
    ],
    problems: ['4 duplicate_id', '5 checkbox_without_id', '12 duplicate_id'],
  },
  contradictions: {
    tasks: [
      ...['1 completed', '  1.1 completed', '  1.2 pending'],
      ...['2 completed', '  2.1 completed', '  2.2 pending optional'],
      ...['3 completed', '  3.1 completed'],
      ...['4 in-progress', '  4.1 pending'],
      '5 pending',
    ],
    problems: ['11 status_conflict'],
  },
  legend: {
    tasks: ['1 pending', '2 in-progress', '3 pending cancelled', '4 in-progress', '5 pending blocked'],
    problems: [],
  },
  chinese: {
    tasks: ['1 completed', '2 in-progress optional', '3 pending', '4.1 completed', '4.2 pending'],
    problems: ['13 mark_without_id', '14 mark_without_id', '15 mark_without_id'],
  },
  japanese: {
    tasks: ['1 completed', '2 pending optional', '3 completed'],
    problems: ['9 mark_without_id', '10 mark_without_id', '11 mark_without_id'],
  },
  references: {
    tasks: ['T001 pending', '2 pending'],
    problems: ['4 id_without_status', '10 id_without_status'],
  },
  'mojibake-1252': { tasks: ['1 completed', '3 pending'], problems: [] },
  prose: { tasks: [], problems: ['1 no_tasks'] },
  speckit: {
    tasks: ['T001 completed', 'T002 pending', 'T003 pending', 'T004 pending', 'T005 pending'],
    problems: [],
  },
  'spec-workflow': { tasks: ['1 completed', '2 pending'], problems: [] },
  'numbered-headings': {
    tasks: ['1 in-progress', '  1#1 pending', '  1#2 completed', '2 pending', '  2#1 pending'],
    problems: ['16 checkbox_without_id'],
  },
  'numbered-bold': {
    tasks: ['T-22.1 pending', 'T-22.2 pending', '1 pending', '2 pending'],
    problems: ['23 mark_without_id'],
  },
};
