import { describe, expect, it } from 'vitest';
import { parseTasksMd } from '../../../src/ledger/tasks-md/parse-tasks-md.js';
import { outline } from './support.js';

function tasksOf(text: string): string[] {
  return outline(parseTasksMd(text).tasks);
}

const NUMBERED = [
  ...['Phase 1 pending', '  01-01 pending', '  01-02 pending'],
  ...['Phase 2 pending', '  02-01 pending'],
];

describe('a list of phases above their headings', () => {
  const below = `
## Phase 1: Lexer

- [ ] 01-01: Read characters
- [ ] 01-02: Read numbers

## Phase 2: Parser

- [ ] 02-01: Read expressions
`;

  it.each([
    ['bare items', '- Phase 1: Lexer\n- Phase 2: Parser\n'],
    ['numbered items', '1. **Phase 1: Lexer** - characters to tokens\n2. **Phase 2: Parser**\n'],
    ['checkboxes', '- [ ] **Phase 1: Lexer** - characters to tokens\n- [ ] **Phase 2: Parser**\n'],
    [
      'checkboxes that say more than the headings',
      '- [ ] Phase 1: Lexer and tokens\n- [ ] Phase 2: Parser of all\n',
    ],
  ])('a list of phases of %s adds no task to those of its headings', (_, list) => {
    expect(tasksOf(`# Plan\n\n## Phases\n\n${list}${below}`)).toEqual(NUMBERED);
  });

  it('a list that repeats headings without a number is prose, where each heading holds tasks', () => {
    const plan = '# Plan\n\n- [ ] Lexer\n- [ ] Parser\n\n## Lexer\n\n- [ ] Read numbers\n\n## Parser\n\n';
    expect(tasksOf(`${plan}- [x] Read expressions\n`)).toEqual(['lexer#1 pending', 'parser#1 completed']);
    expect(tasksOf(plan)).toEqual(['plan#1 pending', 'plan#2 pending', 'lexer#1 pending']);
  });

  it('a phase that has a heading of another name below it is another task', () => {
    expect(tasksOf(`- [x] Phase 1: Foundation\n- [ ] Phase 2: Parser\n${below}`)).toEqual([
      'Phase 1 completed',
      'Phase 1~2 pending',
      ...NUMBERED.slice(1),
    ]);
  });
});

it('a plan of a phase without a check box is reported, and the phases are the tasks', () => {
  const plan =
    '### Phase 1: Lexer\n\nPlans:\n- 01-01: Do\n- **01-02**: Do\n\n### Phase 2: Parser\n\n- 02-01: Do\n';
  const { tasks, problems } = parseTasksMd(plan);
  expect(outline(tasks)).toEqual(['Phase 1 pending', 'Phase 2 pending']);
  expect(problems.filter(({ code }) => code === 'id_without_status').map(({ line }) => line)).toEqual([
    4, 5, 9,
  ]);
});
