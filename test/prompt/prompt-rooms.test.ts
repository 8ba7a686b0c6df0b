import { describe, expect, it } from 'vitest';
import { type CompileRequest, compileRequest } from '../../src/contracts/compile-request.js';
import { ThroughlineError } from '../../src/contracts/errors.js';
import type { BudgetReport } from '../../src/contracts/replies/compile-reply.js';
import { TASK_STATUSES } from '../../src/contracts/task-events.js';
import type { SessionState } from '../../src/memory/session/session-state.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { DEFAULT_BUDGET } from '../../src/prompt/prompt-kind.js';
import { tokensIn } from '../../src/shared/text.js';
import { implementer, recorded, reviewer } from '../support/builders.js';
import { inPrompt, proposal, ranked } from '../support/learnings.js';
import { progressTask, runInitialized } from '../support/ledgers.js';
import { Played } from '../support/played.js';
import * as fc from '../support/properties.js';

const KINDS = ['iteration', 'session-start'] as const;
type Kind = (typeof KINDS)[number];

const LEARNINGS = inPrompt({
  ranked: Array.from({ length: 8 }, (_, index) => ranked(0.9 - index / 10, { content: `Learning ${index}` })),
  total: 8,
  pending: [proposal({ content: 'Proposed' })],
});

function compiledIn(state: SessionState, kind: Kind, inputTokens?: number, budget = DEFAULT_BUDGET) {
  const room = inputTokens === undefined ? {} : { budget: { inputTokens } };
  const request: CompileRequest = compileRequest.parse({ kind, session: 'demo', ...room });
  if (request.kind === 'dispatch') throw new Error('unreachable');
  return compilePrompt(state, request, budget, LEARNINGS);
}

/** The same, or the error of a room that does not even hold the template. */
function compiledOrOver(state: SessionState, kind: Kind, room: number) {
  try {
    return compiledIn(state, kind, room);
  } catch (error) {
    if (error instanceof ThroughlineError && error.code === 'prompt_overflow') return undefined;
    throw error;
  }
}

/** A session of these sizes, with texts of all lengths up to so many words. */
function sessionOf(sizes: Sizes): SessionState {
  const text = (index: number) =>
    `${index} ${'检查 parser lexer '.repeat(1 + ((index * 7) % Math.max(1, sizes.words)))}`;
  const played = new Played();
  if (sizes.plan > 0) {
    const tasks = Array.from({ length: sizes.plan }, (_, at) =>
      progressTask(`${at + 1}`, { text: text(at) }),
    );
    played.fold(runInitialized(tasks));
  }
  const spec = Array.from({ length: sizes.specLines }, (_, at) =>
    at % 9 === 0 ? `## Part ${at}` : text(at),
  );
  played.after('session-open', {
    goal: text(sizes.words),
    ...(sizes.specLines > 0 && { spec: spec.join('\n') }),
  });
  for (let at = 0; at < sizes.iterations; at += 1) {
    played.after('iteration-start', {});
    if (at % 3 > 0) played.after('iteration-summary', { summary: text(at) });
  }
  for (let at = 0; at < sizes.tasks; at += 1) {
    const status = TASK_STATUSES[at % TASK_STATUSES.length] ?? 'remaining';
    const dependsOn = at % 4 === 0 && at > 0 ? { dependsOn: `${at}` } : {};
    played.after('task-add', { content: text(at), status, priority: at % 5, ...dependsOn });
  }
  for (let at = 0; at < sizes.notes; at += 1) played.after('note-add', { content: text(at) });
  for (let at = 0; at < sizes.messages; at += 1) played.after('inbox-add', { content: text(at) });
  for (let at = 0; at < sizes.results; at += 1) {
    const task_id = `task-${at}`;
    const files_modified = [`src/part${at}.ts`];
    played.foldWhole(recorded(2 * at + 1, implementer({ task_id, summary: text(at), files_modified })));
    const issues = [{ severity: 'critical' as const, file: `src/part${at}.ts`, message: text(at) }];
    played.foldWhole(recorded(2 * at + 2, reviewer({ task_id, issues })));
  }
  return played.state;
}

const sizes = fc.record({
  tasks: fc.integer({ min: 0, max: 60 }),
  notes: fc.integer({ min: 0, max: 40 }),
  messages: fc.integer({ min: 0, max: 40 }),
  iterations: fc.integer({ min: 0, max: 12 }),
  results: fc.integer({ min: 0, max: 8 }),
  words: fc.integer({ min: 1, max: 60 }),
  specLines: fc.integer({ min: 0, max: 120 }),
  plan: fc.integer({ min: 0, max: 5 }),
});
type Sizes = typeof sizes extends fc.Arbitrary<infer Value> ? Value : never;

describe.each(KINDS)('the room of a prompt of kind %s', (kind) => {
  it(`a prompt of kind ${kind} is never over its room, and uses most of it while something is left out`, () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 12_000 }), (given, room) => {
        const compiled = compiledOrOver(sessionOf(given), kind, room);
        if (compiled === undefined) return;
        const { budget, prompt, tokenEstimate } = compiled;
        expect(budget.used).toBeLessThanOrEqual(room);
        expect(budget).toMatchObject({ room, used: tokensIn(prompt) });
        expect(tokenEstimate).toBe(budget.used);
        if (budget.wanted > room && room > BASE[kind] * 2)
          expect(budget.used / room).toBeGreaterThanOrEqual(0.85);
        const never = neverShown(budget);
        if (budget.wanted <= room) expect(budget.dropped).toBe(never);
      }),
      { numRuns: 40 },
    );
  });

  it(`more room never shows less in a prompt of kind ${kind}`, () => {
    fc.assert(
      fc.property(sizes, fc.array(fc.integer({ min: 1, max: 12_000 }), { minLength: 6 }), (given, rooms) => {
        const state = sessionOf(given);
        let before: ReturnType<typeof compiledOrOver>;
        for (const room of rooms.toSorted((a, b) => a - b)) {
          const compiled = compiledOrOver(state, kind, room);
          if (before !== undefined && compiled === undefined) throw new Error('more room showed nothing');
          for (const { name, shown } of before?.budget.sections ?? []) {
            const now = compiled?.budget.sections.find((section) => section.name === name);
            expect(now?.shown, name).toBeGreaterThanOrEqual(shown);
          }
          before = compiled;
        }
      }),
      { numRuns: 15 },
    );
  });
});

/** Completed tasks and iterations are counted, but only the newest are ever shown. */
function neverShown({ sections }: BudgetReport): number {
  const beyond = (name: string, most: number) =>
    Math.max(0, (sections.find((section) => section.name === name)?.total ?? 0) - most);
  const ofStart = [
    beyond('open', 5),
    beyond('decided', 5),
    beyond('found', 3),
    beyond('noted', 3),
    beyond('tried', 3),
  ];
  const statements = ofStart.reduce((sum, each) => sum + each, 0);
  // Where statements are left out, proposals are only counted.
  const proposals = statements > 0 ? beyond('proposals', 0) : 0;
  return beyond('completed', 10) + beyond('history', 5) + statements + proposals;
}

/** Tokens of what a prompt says about any session. */
const BASE = { iteration: 1300, 'session-start': 150 } as const;

/** The title that counts what a section shows, and what else says that something is left out. */
const SAID: Readonly<Record<string, readonly [string, string?]>> = {
  goal: ['', 'Goal: (shortened'],
  spec: ['', '(shortened: '],
  history: ['-', '- (0 of '],
  inbox: ['', 'not shown here: `throughline tool inbox-list'],
  notes: ['## Notes', 'Notes of earlier agents ('],
  ready: ['', 'REMAINING ('],
  waiting: ['', 'REMAINING ('],
  in_progress: ['IN_PROGRESS'],
  blocked: ['BLOCKED'],
  completed: ['COMPLETED'],
  findings: ['Open findings'],
  files: ['Likely files'],
  work: ['Related work'],
  decisions: ['Decisions and conventions'],
  tests: ['Failing tests'],
  requirements: ['Left to do by other tasks'],
  facts: ['Also known'],
};
const CONTEXT = 'of the session context (`throughline facts demo`)';
/** What the line at the end says of a section of which nothing is shown. */
const LEFT: Readonly<Record<string, string>> = {
  findings: CONTEXT,
  files: CONTEXT,
  work: CONTEXT,
  decisions: CONTEXT,
  tests: CONTEXT,
  requirements: CONTEXT,
  facts: CONTEXT,
  plan: 'of the plan (`throughline status demo`)',
  learnings: 'of the learnings (`',
  notes: 'of the notes (`throughline tool note-list --session demo`)',
};

describe('a session of any size', () => {
  const huge = sessionOf({
    tasks: 2000,
    notes: 1000,
    messages: 1000,
    iterations: 200,
    results: 40,
    words: 40,
    specLines: 250,
    plan: 500,
  });

  it.each(KINDS)('a session of any size has a prompt of kind %s, which says what it leaves out', (kind) => {
    const { budget, prompt } = compiledIn(huge, kind);
    expect(budget.room).toBe(kind === 'iteration' ? 8000 : 500);
    expect(budget.used).toBeLessThanOrEqual(budget.room);
    if (kind === 'iteration') expect(budget.used).toBeGreaterThan(0.85 * budget.room);
    expect(prompt).toContain('Goal: ');
    expect(prompt).toMatch(/\nPlan: 0 of 500 done, next 1 /);
  });

  it.each(KINDS)('a prompt of kind %s names every section that it does not show whole', (kind) => {
    for (let room = BASE[kind] + 300; room < 9000; room += 331) {
      const { budget, prompt } = compiledIn(huge, kind, room);
      const leftOut = prompt.split('\n').findLast((line) => line.startsWith('Not shown:')) ?? '';
      for (const { name, shown, total } of budget.sections) {
        if (shown === total) continue;
        const [title = name, other = ''] = SAID[name] ?? [];
        const isTitled = prompt.includes(`${title} (${shown} of `) && title !== '';
        const isSaid =
          isTitled || (other !== '' && prompt.includes(other)) || leftOut.includes(LEFT[name] ?? '-');
        expect(isSaid, `${name} ${shown} of ${total} in ${room}`).toBe(true);
      }
      if (leftOut.includes('learnings'))
        expect(leftOut).toContain('`throughline learning ls --project default`');
    }
  });

  it('a small iteration prompt keeps goal, plan and findings before tasks and messages', () => {
    const shownIn = (room: number) => {
      const { sections } = compiledIn(huge, 'iteration', room).budget;
      return (name: string) => sections.find((section) => section.name === name)?.shown ?? 0;
    };
    const seen = { findings: false, ready: false };
    for (let room = BASE.iteration; room < 3500; room += 90) {
      const shown = shownIn(room);
      if (shown('ready') + shown('inbox') > 0)
        expect([shown('goal'), shown('plan'), shown('findings')]).toEqual([1, 1, 3]);
      seen.findings ||= shown('findings') > 0 && shown('ready') === 0;
      seen.ready ||= shown('ready') > 0;
    }
    expect(seen).toEqual({ findings: true, ready: true });
  });
});
