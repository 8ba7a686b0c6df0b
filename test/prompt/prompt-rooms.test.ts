import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CompileRequest, compileRequest } from '../../src/contracts/compile-request.js';
import { ThroughlineError } from '../../src/contracts/errors.js';
import { TASK_STATUSES } from '../../src/contracts/task-events.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { DEFAULT_BUDGET, DEFAULT_ROOM } from '../../src/prompt/prompt-budget.js';
import type { SessionState } from '../../src/session/session-state.js';
import { loadTokenizer } from '../../src/tokenizers/load-tokenizer.js';
import { implementer, recorded, reviewer } from '../support/builders.js';
import { inPrompt, proposal, ranked } from '../support/learnings.js';
import { progressTask, runInitialized } from '../support/ledgers.js';
import { Played } from '../support/played.js';

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

interface Sizes {
  readonly tasks: number;
  readonly notes: number;
  readonly messages: number;
  readonly iterations: number;
  readonly results: number;
  readonly words: number;
  readonly specLines: number;
  readonly plan: number;
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

const sizes: fc.Arbitrary<Sizes> = fc.record({
  tasks: fc.integer({ min: 0, max: 60 }),
  notes: fc.integer({ min: 0, max: 40 }),
  messages: fc.integer({ min: 0, max: 40 }),
  iterations: fc.integer({ min: 0, max: 12 }),
  results: fc.integer({ min: 0, max: 8 }),
  words: fc.integer({ min: 1, max: 60 }),
  specLines: fc.integer({ min: 0, max: 120 }),
  plan: fc.integer({ min: 0, max: 5 }),
});

describe.each(KINDS)('the room of a prompt of kind %s', (kind) => {
  it(`a prompt of kind ${kind} is never over its room, and uses most of it while something is left out`, () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 12_000 }), (given, room) => {
        const compiled = compiledOrOver(sessionOf(given), kind, room);
        if (compiled === undefined) return;
        const { budget, prompt, tokenEstimate } = compiled;
        expect(budget.used).toBeLessThanOrEqual(room);
        expect(budget).toMatchObject({ room, used: DEFAULT_BUDGET.tokenizer.count(prompt) });
        expect(tokenEstimate).toBe(budget.used);
        if (budget.wanted > room && room > BASE[kind] * 2)
          expect(budget.used / room).toBeGreaterThanOrEqual(0.85);
        if (budget.wanted <= room) expect(budget.dropped).toBe(0);
      }),
      { numRuns: 60 },
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
      { numRuns: 25 },
    );
  });
});

/** Tokens of what a prompt says about any session. */
const BASE = { iteration: 1300, 'session-start': 150 } as const;

describe('a session of any size', () => {
  const huge = sessionOf({
    ...{ tasks: 2000, notes: 1000, messages: 1000, iterations: 200, results: 40 },
    ...{ words: 40, specLines: 250, plan: 500 },
  });

  it.each(KINDS)(
    'a session of any size has a prompt of kind %s, which says what it leaves out',
    async (kind) => {
      for (const name of ['approximate', 'o200k_base'] as const) {
        const tokenizer = await loadTokenizer(name);
        const { budget, prompt } = compiledIn(huge, kind, undefined, { ...DEFAULT_BUDGET, tokenizer });
        expect(budget.room).toBe(DEFAULT_ROOM[kind]);
        expect(budget.used).toBeLessThanOrEqual(budget.room);
        if (kind === 'iteration') expect(budget.used).toBeGreaterThan(0.85 * budget.room);
        expect(prompt).toContain('Goal: ');
        expect(prompt).toMatch(/\nPlan: 0 of 500 done, next 1 /);
      }
    },
  );

  it('a session of any size has lists that say what is left out, and the command that shows it', () => {
    const { prompt } = compiledIn(huge, 'iteration');
    const tool = '`throughline tool \\S+ --session demo';
    for (const said of [
      `\\(shortened: \\d+ of 250 lines; whole: ${tool} --json\``,
      `## Notes \\(\\d+ of 1000, long ones shortened; all: ${tool}\`\\)`,
      `REMAINING \\(\\d+ of 400, long ones shortened; all: ${tool} --status remaining\`\\)`,
      `COMPLETED \\(\\d+ of 400, long ones shortened; all: ${tool} --status completed\`\\)`,
      `- \\d+ more messages, not shown here: ${tool}\``,
    ])
      expect(prompt).toMatch(new RegExp(said));
  });
});
