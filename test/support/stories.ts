import type { ResultOf } from '../../src/contracts/results.js';

/** What happens in the stories, as their tests play it and as docs/explanation/prompts.md shows it. */

export const PORT = 'Which port, 9090 or 9464?';

export const METRICS_PLAN =
  '# Metrics\n\n- [ ] 1. Serve metrics\n- [ ] 2. Write the changelog\n- [ ] 3. Add a license\n';

type Review = Partial<ResultOf<'reviewer'>>;

const LEAK: Review = {
  issues: [{ severity: 'critical', file: 'src/pool.ts', message: 'The handle leaks' }],
};
const LEAK_AND_SLOW: Review = {
  issues: [...(LEAK.issues ?? []), { severity: 'minor', file: 'src/pool.ts', message: 'Slow' }],
};
const ODD_NAME: Review = {
  issues: [{ severity: 'minor', file: 'src/names.ts', message: 'Odd name' }],
};

/** Rounds of work on task 1, each with the review that sends it back. */
export type Rounds = readonly (readonly [summary: string, review: Review])[];
export const FIX_ROUNDS: Rounds = [
  ['wrote the pool', LEAK_AND_SLOW],
  ['closed the handle', ODD_NAME],
];

export const LEXER_PLAN = `# Implementation Plan: Query language

## Overview

Goal: parse queries in one pass.
Conventions: never use regular expressions in the lexer.

## Tasks

- [x] 1. Set up the project
- [ ] 2. Write the lexer
  - File: src/lexer.ts
  - Define tokens:
    - words
    - numbers
  - _Leverage: src/text.ts_
  - _Requirements: 1.2, 3_
  - _Prompt: Role: compiler engineer | Task: split the text into tokens_
- [~] 3. Ask for the licence
  - _Blocked: waits for the legal team_
`;

export const LEXER_REQUIREMENTS = `### Requirement 1: Lexer

#### Acceptance Criteria

1. IT SHALL read UTF-8
2. WHEN a token is unknown THEN the lexer SHALL report its line
`;
