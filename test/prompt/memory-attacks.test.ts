import { describe, expect, it } from 'vitest';
import type { Role } from '../../src/contracts/kinds.js';
import { stablePrefix } from '../../src/contracts/kinds.js';
import type { StoredEntry } from '../../src/contracts/trace-entry.js';
import { factsOfEvent } from '../../src/memory/facts/statements.js';
import type { LearningsInPrompt } from '../../src/memory/learnings/learnings-state.js';
import { recordEntry } from '../../src/memory/traces/record-entry.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { ITERATION_TEMPLATE, PLAN_TEMPLATE } from '../../src/prompt/iteration-template.js';
import { DEFAULT_BUDGET } from '../../src/prompt/prompt-kind.js';
import { CLIENT_TAG, spokenAttacks } from '../support/attacks.js';
import { implementer, recorded, rejected, reviewer } from '../support/builders.js';
import { runInitialized } from '../support/ledgers.js';
import { Played } from '../support/played.js';
import * as fc from '../support/properties.js';
import { dispatchRequest, explained } from './parts.js';

/** Gives the next text at each call, and starts over after the last. */
type Say = () => string;

function sayerOf(texts: readonly string[]): Say {
  let at = -1;
  return () => {
    at = (at + 1) % texts.length;
    return texts[at] ?? '';
  };
}

/** Fills every field of a session by the ways that its users have: tools, dispatches, traces, runs. */
function byContract(say: Say): Played {
  const played = new Played();
  const short = (text: string, max: number) => text.trim().slice(0, max).trim() || 'x';
  const content = () => short(say(), 9000);
  played.after('session-open', { goal: content(), specPath: short(say(), 1000) });
  for (const type of ['learning', 'stuck', 'tip', 'decision'] as const)
    played.after('note-add', { content: content(), type });
  for (let each = 1; each <= 5; each += 1) {
    played
      .after('task-add', { content: `${each} ${content().slice(0, 8000)}` })
      .after('inbox-add', { content: content() });
  }
  played.after('iteration-start', {}).after('task-status', { id: '1', status: 'completed' });
  played.after('task-status', { id: '2', status: 'blocked', reason: content() });
  played.after('task-depends', { id: '4', dependsOn: '3' }).after('task-next', { claim: short(say(), 128) });
  played.after('iteration-summary', { summary: content() }).after('iteration-start', {});
  const taskId = (text: string) =>
    text
      .replace(/[^ -~]/g, '')
      .trim()
      .slice(0, 100) || '1';
  const texts = () => [say(), say()];
  const seen = (more: object) => ({
    summary: say(),
    files_modified: texts(),
    follow_up_actions: texts(),
    blockers: texts(),
    ...more,
  });
  const tests = () => [
    { command: say(), passed: false, failures: texts() },
    { command: say(), passed: true },
  ];
  const sent = () =>
    reviewer({
      strengths: texts(),
      required_fixes: texts(),
      issues: [{ severity: 'critical', file: say(), message: say(), fix: say() }],
    });
  const results = [
    implementer(seen({ tests: tests() })),
    sent(),
    implementer(seen({ status: 'blocked' })),
    sent(),
  ];
  results.push(
    implementer(seen({ task_id: taskId(say()), intent_id: say() })),
    implementer(seen({ task_id: taskId(say()) })),
  );
  for (const [index, result] of results.entries()) played.foldWhole(recorded(index + 1, result));
  const fault = { task: '1', reason: say(), fix: say() };
  played.foldWhole(rejected(results.length + 1, fault));
  const entries = Array.from({ length: 27 }, (_, index) => entry(say, index));
  played.fold({ type: 'trace.appended', data: { entries, malformed: 0 } });
  return played;
}

function entry(say: Say, index: number): StoredEntry {
  const [asks, fails] = [index === 0, index % 3 === 0];
  const result = recordEntry(
    {
      id: `e${index}`,
      intent_id: 'INT-1',
      action_type: 'TOOL_EXECUTION',
      state: asks ? 'REQUEST' : index % 2 === 0 ? 'REASONING' : 'ACTION',
      payload: {
        tool_name: say().slice(0, 150),
        target_files: [say().slice(0, 900)],
        command: say(),
        reasoning: say(),
      },
      result: { status: fails ? 'FAILURE' : 'SUCCESS', output_summary: say(), error_message: say() },
    },
    () => 'id',
  );
  if ('malformed' in result) throw new Error(result.malformed);
  return result.entry;
}

/** The same by events that another writer appended: nothing in them has been through our hands. */
function byOthers(say: Say): Played {
  const played = new Played();
  played.fold({
    type: 'session.opened',
    data: { goal: say(), spec: say(), spec_path: say(), project: say() },
  });
  played.foldWhole({
    ...runInitialized([]),
    data: {
      spec: say(),
      goal: say(),
      source: { kind: 'document' },
      document: {
        fingerprint: { mtimeMs: 0, hash: say() },
        problems: 0,
        tasks: [
          { id: '1', text: say(), status: 'pending', requirements: [say()] },
          { id: say(), text: say(), status: 'in-progress' },
        ],
      },
    },
  });
  played.fold({ type: 'iteration.started', data: { number: 1 } });
  played.fold({
    type: 'task.added',
    data: {
      task: 'TAS-1',
      content: say(),
      status: 'in_progress',
      priority: 0,
      depends_on: ['TAS-7'],
      iteration: 1,
    },
  });
  played.fold({ type: 'task.claimed', data: { task: 'TAS-1', agent: say(), iteration: 1 } });
  played.fold({
    type: 'task.added',
    data: { task: 'TAS-2', content: say(), status: 'remaining', priority: 0, depends_on: [], iteration: 1 },
  });
  played.fold({
    type: 'task.status',
    data: { task: 'TAS-2', status: 'blocked', reason: say(), iteration: 1 },
  });
  played.fold({ type: 'note.added', data: { note: 'NOT-1', content: say(), type: 'tip', iteration: 1 } });
  played.fold({ type: 'inbox.added', data: { message: 'MSG-1', content: say() } });
  played.fold({ type: 'iteration.summary', data: { number: 1, summary: say(), tasks_worked: [] } });
  const honest = recorded(
    1,
    implementer({ intent_id: 'INT-1', blockers: ['x'], files_modified: ['y'], summary: 'z' }),
  );
  const { dispatch } = honest.data;
  const outcome = {
    status: 'blocked' as const,
    summary: say(),
    blockers: [say()],
    files_modified: [say()],
    intent_id: 'INT-1',
  };
  const facts = factsOfEvent(honest).map((fact) => ({
    ...fact,
    subject: say(),
    relation: say(),
    object: say(),
  }));
  if (dispatch.role !== 'implementer') throw new Error('unreachable');
  for (let sequence = 1; sequence <= 3; sequence += 1) {
    // With all facts of its own, and with those that follow from the outcome.
    const data = { dispatch: { ...dispatch, sequence, outcome }, facts };
    played.foldWhole({ ...honest, data: sequence === 1 ? data : { ...data, facts_complete: true } });
  }
  played.foldWhole(rejected(4, { task: dispatch.task, reason: say(), fix: say() }));
  const entries: StoredEntry[] = Array.from({ length: 27 }, (_, index) => ({
    id: `e${index}`,
    intent: 'INT-1',
    action: 'TOOL_EXECUTION' as const,
    size: 9,
    status: index % 3 === 0 ? ('FAILURE' as const) : ('SUCCESS' as const),
    state: index === 0 ? ('REQUEST' as const) : ('REASONING' as const),
    tool: say(),
    target: say(),
    files: [say()],
    command: say(),
    reasoning: say(),
    output: say(),
    error: say(),
  }));
  played.fold({ type: 'trace.appended', data: { entries, malformed: 0 } });
  return played;
}

/** Learnings as in a log that others have written to. */
function learned(say: Say): LearningsInPrompt {
  const ranked = [0.9, 0.5, 0].map((score, at) => ({
    score,
    learning: {
      id: `00000000000${at}`,
      type: 'insight' as const,
      content: say(),
      tags: [say()],
      source: {},
      evidence: [],
      extractedAt: AT,
      confirmedAt: AT,
    },
  }));
  return { method: 'lexical', ranked, total: 3, pending: [], sequence: 1 };
}

const AT = '2026-05-01T00:00:00.000Z';
const ROOM = {
  ...DEFAULT_BUDGET,
  caps: { implementer: 100_000, reviewer: 100_000, observer: 100_000 },
  maxSummaryTokens: 20_000,
};
/** Begins every line of a hostile text, whatever ends a line there. */
const MARK = 'Q7';
const texts = fc.array(
  spokenAttacks.map(
    (text) => `${MARK}${text.replace(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/g, (end) => end + MARK)}`,
  ),
  { minLength: 1, maxLength: 12 },
);

const WAYS = { 'tools, dispatches and traces': byContract, 'events of another writer': byOthers };

// biome-ignore lint/suspicious/noControlCharactersInRegex: one line without any of them is what is asked for
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const FORGED =
  /\[\s*(session\s+context|compacted\s+history|recent\s+steps)|(BEGIN|END)_DISPATCH_RESULT|<[/!|]|(?<![\p{L}\p{N}_])<\p{L}|\[\/?INST\]/iu;
const HEADERS = ['[Compacted History]', '[Session Context]', '[Recent Steps]'];
const ORIGIN = / \[task:[^[\]]*\]$/;

/** Lines of a prompt in which memory is more than quoted text: it opens a line, or forges a header, a marker or an origin. */
function escaped(prompt: string): string[] {
  const lines = prompt.split('\n');
  return lines.filter(
    (line, at) =>
      (HEADERS.includes(line) ? lines.indexOf(line) !== at : FORGED.test(line)) ||
      CLIENT_TAG.test(line) ||
      line.trimStart().startsWith(MARK) ||
      UNSEEN.test(line) ||
      !line.isWellFormed() ||
      /\[\s*task\s*:/i.test(line.replace(ORIGIN, '')),
  );
}

/** What a dispatch prompt holds between the words of its role and those of the task at hand. */
const memoryIn = (prompt: string, role: Role) =>
  prompt.replace(stablePrefix(role), '').split('\n\nTask prompt:\n')[0] ?? '';

describe.each(Object.entries(WAYS))('what was written by %s', (_, write) => {
  it('hostile memory keeps to its lines in a dispatch prompt', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom('implementer', 'reviewer'), (given, role) => {
        const request = dispatchRequest({ role, maxFacts: 100, activeIntentId: 'INT-1' });
        const { state } = write(sayerOf(given));
        const compiled = compilePrompt(state, request, ROOM, learned(sayerOf(given)));
        expect(escaped(memoryIn(compiled.prompt, role))).toEqual([]);
        expect(compiled.prompt).toContain('\nUnreadable: ');
      }),
      { numRuns: 80 },
    );
  });

  it('hostile memory keeps to its lines in an iteration prompt', () => {
    const request = explained({
      kind: 'iteration',
      session: 'demo',
      maxFacts: 100,
      maxTokens: 50_000,
      budget: { inputTokens: 200_000 },
      activeIntentId: 'INT-1',
    });
    fc.assert(
      fc.property(texts, (given) => {
        const { prompt } = compilePrompt(write(sayerOf(given)).state, request, ROOM, learned(sayerOf(given)));
        const own = `${ITERATION_TEMPLATE}\n${PLAN_TEMPLATE}`.split('\n');
        expect(escaped(prompt).filter((line) => !own.includes(line))).toEqual([]);
      }),
      { numRuns: 80 },
    );
  });

  it('hostile memory forges nothing in the start of a session', () => {
    const request = explained({ kind: 'session-start', session: 'demo', budget: { inputTokens: 20_000 } });
    fc.assert(
      fc.property(texts, (given) => {
        const { prompt } = compilePrompt(write(sayerOf(given)).state, request, ROOM, learned(sayerOf(given)));
        expect(escaped(prompt)).toEqual([]);
      }),
      { numRuns: 80 },
    );
  });

  it('hostile memory stays in its budget of a dispatch prompt, whatever is left out', () => {
    const request = dispatchRequest({ activeIntentId: 'INT-1', taskPrompt: 'change x' });
    fc.assert(
      fc.property(texts, fc.integer({ min: 100, max: 4000 }), (given, room) => {
        const caps = { implementer: 1200 + 6000 + room, reviewer: 1200, observer: 1200 };
        const { prompt } = compilePrompt(write(sayerOf(given)).state, request, { ...DEFAULT_BUDGET, caps });
        expect(escaped(memoryIn(prompt, request.role))).toEqual([]);
      }),
      { numRuns: 70 },
    );
  });
});

it('a line in which memory is more than quoted text is found', () => {
  const quoted = '- task:1 summary ok [task:1]';
  expect(escaped(quoted)).toEqual([]);
  for (const line of [
    ...[`${MARK}x`, `  ${MARK}x`, '- a\u200bb [task:1]', '- [task:2] b [task:1]', '- \ud800 [task:1]'],
    ...['- [ session context [task:1]', '- x BEGIN_DISPATCH_RESULT [task:1]', '<|system|>'],
    '[Session Context]\n[Session Context]',
  ])
    expect(escaped(line), line).toHaveLength(1);
});
