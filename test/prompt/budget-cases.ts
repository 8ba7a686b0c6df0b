import type { DispatchRequest } from '../../src/contracts/compile-request.js';
import { ROLES } from '../../src/contracts/kinds.js';
import type { SessionEvent } from '../../src/contracts/session-events.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { emptyState, type SessionState } from '../../src/memory/session/session-state.js';
import { clipText, distinctTexts } from '../../src/shared/text.js';
import { implementer, recorded, reviewer, stored } from '../support/builders.js';
import { progressTask, runInitialized } from '../support/ledgers.js';
import * as fc from '../support/properties.js';
import { dispatchRequest } from './parts.js';

export const OBJECTIVE = 'Write the parser of the query language.';
export const CONSTRAINTS = ['It must never throw.', '- Restrictions: no dependency', '必须检查边界。'];
/** An objective, lines that may go, and constraints among them. */
export const TASK_PROMPT = [
  OBJECTIVE,
  '',
  ...Array.from({ length: 10 }, (_, index) => `Background: chapter ${index} of the book explains why.`),
  ...CONSTRAINTS,
  'The book is long.',
].join('\n');

function stateAfter(events: readonly SessionEvent[]): SessionState {
  return stored(events).reduce(evolve, emptyState('demo'));
}

const RUN = runInitialized([
  progressTask('1', { text: 'write the parser', requirements: ['1.2'] }),
  progressTask('2', { status: 'in-progress' }),
]);
const REVIEW = reviewer({
  required_fixes: ['check the bounds', 'close the file'],
  issues: [{ severity: 'critical', file: 'src/a.ts', message: 'checks no bounds: must check the last line' }],
});

/** Task 1 has everything that a prompt can show: each field of the packet, signals, and three facts of task 2 that have to do with it. */
export const FULL: SessionState = stateAfter([
  RUN,
  recorded(
    1,
    implementer({
      task_id: '2',
      summary: 'a lexer for the parser',
      follow_up_actions: ['name each query', 'describe the language'],
    }),
  ),
  recorded(2, REVIEW),
  recorded(3, implementer({ status: 'failed', summary: 'the parser loops' })),
  recorded(4, REVIEW),
  recorded(
    5,
    implementer({
      status: 'blocked',
      summary: 'the lexer is wrong',
      blockers: ['no grammar'],
      files_modified: ['src/a.ts'],
      tests: [
        { command: 'npm test', passed: false, failures: ['loops'] },
        { command: 'npm run lint', passed: true },
      ],
      follow_up_actions: ['write a grammar'],
    }),
  ),
]);

/** A prompt to compile, and what must stand in it. */
export interface PromptCase {
  readonly state: SessionState;
  readonly request: DispatchRequest;
  readonly fixes: readonly string[];
  readonly blockers: readonly string[];
  readonly objective: string;
}

const words = fc.constantFrom('bounds', 'the', 'file', '检查', 'naïve', 'x'.repeat(30), 'a.b.c', '😀', '{"}');
const sentence = (maxLength: number) =>
  fc.array(words, { minLength: 1, maxLength }).map((all) => all.join(' '));
const many = (maxLength: number) => fc.array(sentence(15), { maxLength });

/** Sessions and task prompts of all sizes, from those that fit anywhere to those that fit nowhere. */
export const promptCases: fc.Arbitrary<PromptCase> = fc
  .record({
    objective: fc.oneof({ weight: 5, arbitrary: sentence(20) }, sentence(1500)),
    lines: fc.array(fc.oneof(sentence(20), fc.constantFrom(...CONSTRAINTS)), { maxLength: 120 }),
    fixes: many(8),
    blockers: many(8),
    issues: many(8),
    facts: many(30),
    rounds: fc.integer({ min: 1, max: 3 }),
    hasRun: fc.boolean(),
    role: fc.constantFrom(...ROLES),
  })
  .map(({ objective, lines, fixes, blockers, issues, facts, rounds, hasRun, role }) => {
    const review = reviewer({
      required_fixes: fixes,
      issues: issues.map((message) => ({ severity: 'important', message })),
    });
    const results = [
      implementer({ task_id: '2', follow_up_actions: facts, summary: facts[0] ?? 'none' }),
      ...Array.from({ length: rounds }, () => [review, implementer({ status: 'blocked', blockers })]).flat(),
    ];
    const events = results.map((result, index) => recorded(index + 1, result));
    return {
      state: stateAfter(hasRun ? [RUN, ...events] : events),
      request: dispatchRequest({ role, taskPrompt: [objective, '', ...lines].join('\n'), maxFacts: 50 }),
      // What a review demands is kept up to 500 characters.
      fixes: distinctTexts(fixes.map((text) => clipText(text, 500))),
      blockers: distinctTexts(blockers.map((text) => clipText(text, 500))),
      objective,
    };
  });
