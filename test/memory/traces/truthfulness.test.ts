import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { TraceEntryInput } from '../../../src/contracts/trace-entry.js';
import { addEntry, emptyTrace } from '../../../src/memory/traces/intent-trace.js';
import { summarise } from '../../../src/memory/traces/trace-summary.js';
import { approximateTokenizer } from '../../../src/shared/text.js';
import * as fc from '../../support/properties.js';
import { type Effect, type Trace, untruths } from '../../support/trace-reader.js';
import { recordedOf } from './compaction-entries.js';

/** Every statement of a summary is checked against the entries, by a reader of its own, after each entry. */

const RHYTHM = { threshold: 5, block: 4 };
const ROOMS = [1200, 500, 250, 120];

function everyUntruth(
  entries: readonly TraceEntryInput[],
  told: Omit<Trace, 'entries' | 'compacted'>,
): string[] {
  let trace = emptyTrace(entries[0]?.intent_id ?? 'INT-1');
  const wrong: string[] = [];
  for (const [index, entry] of entries.entries()) {
    trace = addEntry(trace, recordedOf(entry), RHYTHM);
    for (const room of ROOMS) {
      const summary = summarise(trace, approximateTokenizer, room);
      if (summary === null) continue;
      const past = { ...told, entries: entries.slice(0, index + 1), compacted: trace.compacted };
      // As long as its tallies fit.
      if (summary.parts.length > 1) wrong.push(...untruths(summary.text, past));
      for (let size = 1; size < summary.parts.length; size += 3) {
        const some = new Map(summary.parts.slice(0, size).map((text, place) => [place, text]));
        wrong.push(...untruths(summary.write(some), past));
      }
    }
  }
  return [...new Set(wrong)];
}

describe('summaries of recorded traces', () => {
  const FOLDER = new URL('../../fixtures/traces/', import.meta.url);
  const EFFECTS: Readonly<Record<string, Effect>> = {
    ...{ edit: 'changes', create: 'changes', rm: 'changes' },
    ...{ open: 'reads', find_file: 'reads', cat: 'reads', file: 'reads', pwd: 'reads', echo: 'reads' },
    ...{ python: 'runs', submit: 'runs' },
  };
  const filesOf = ({ payload }: TraceEntryInput) => {
    const { command = '', target_files = [], tool_name } = payload ?? {};
    // These agents name the file that is open; a command with a name in it is about that one.
    if (tool_name === 'edit') return target_files;
    const names = command.match(/[\w-]+\.(py|enc|mpeg|m4v|avi)\b/g);
    return names === null
      ? target_files
      : target_files.filter((file) => names.some((name) => file.endsWith(`/${name}`)));
  };

  it.each(readdirSync(FOLDER))('every statement of each summary of %s is true', (name) => {
    const lines = readFileSync(new URL(name, FOLDER), 'utf8').trimEnd().split('\n');
    const entries: TraceEntryInput[] = lines.map((line) => JSON.parse(line));
    const wrong = everyUntruth(entries, {
      effect: (tool) => EFFECTS[tool] ?? 'runs',
      files: filesOf,
      object: (entry) =>
        entry.payload?.tool_name === 'edit'
          ? filesOf(entry).join(', ')
          : (entry.payload?.command ?? entry.payload?.reasoning ?? '').replace(/\s+/g, ' ').trim(),
    });
    expect(wrong).toEqual([]);
  });
});

describe('summaries of generated traces', () => {
  const FILES = ['src/a.ts', 'src/b.ts', 'docs/c.md', 'test/d.test.ts'];
  const COMMANDS: Readonly<Record<string, Effect>> = {
    'npm test': 'runs',
    'npx tsc -p .': 'runs',
    'pytest -q && git commit -m done': 'runs',
    './deploy.sh': 'runs',
    'npm install left-pad': 'changes',
    'git commit -m done': 'changes',
    'mkdir out': 'changes',
    'ls out': 'reads',
    'git status | head': 'reads',
  };
  const TOOLS: Readonly<Record<string, Effect>> = {
    ...{ edit: 'changes', write_file: 'changes', delete: 'changes' },
    ...{ Read: 'reads', grep: 'reads', my_own_tool: 'runs' },
  };
  const result = fc.record(
    {
      status: fc.constantFrom('SUCCESS' as const, 'SUCCESS' as const, 'FAILURE' as const, 'DENIED' as const),
      output_summary: fc.constantFrom('ok', '+9 -2', '12 passed', 'x'.repeat(900)),
      error_message: fc.constantFrom('exit 1', 'no such thing', 'two of three failed'),
    },
    { requiredKeys: ['status', 'output_summary'] },
  );
  const files = fc.subarray(FILES, { minLength: 1, maxLength: 2 });
  const ofTool = fc.record({
    action_type: fc.constant('TOOL_EXECUTION' as const),
    payload: fc.record(
      {
        tool_name: fc.constantFrom(...Object.keys(TOOLS)),
        target_files: files,
        reasoning: fc.constantFrom('Fix the parser', 'Say why'),
      },
      { requiredKeys: ['tool_name', 'target_files'] },
    ),
    result,
  });
  const ofShell = fc.record({
    action_type: fc.constant('TOOL_EXECUTION' as const),
    payload: fc.record({
      tool_name: fc.constant('bash'),
      command: fc.constantFrom(...Object.keys(COMMANDS)),
    }),
    result,
  });
  const sentences = fc.array(
    fc.constantFrom(
      'Write the parser.',
      'Never touch the grammar.',
      'You must keep the old one running!',
      'Use only the standard library.',
      'It is slow.',
      'Do not\nadd a dependency.',
    ),
    { minLength: 1, maxLength: 60 },
  );
  const request = sentences.map((all) => ({
    ...{ state: 'REQUEST' as const, action_type: 'INTENT_SELECTION' as const },
    payload: { reasoning: all.join(' ') },
  }));
  const decision = fc.integer({ min: 0, max: 40 }).map((number) => ({
    ...{ state: 'REASONING' as const, action_type: 'STATE_TRANSITION' as const },
    payload: { reasoning: `choose way ${number}, ${'because it is simple '.repeat(number % 20)}` },
  }));
  const trouble = fc.constantFrom('SCOPE_VIOLATION' as const, 'ERROR' as const).map((action_type) => ({
    action_type,
    payload: {},
    result: { status: 'FAILURE' as const, output_summary: '', error_message: 'out of scope' },
  }));
  const entries = fc
    .array(
      fc.oneof(
        { arbitrary: ofTool, weight: 5 },
        { arbitrary: ofShell, weight: 5 },
        { arbitrary: decision, weight: 2 },
        { arbitrary: request, weight: 1 },
        { arbitrary: trouble, weight: 1 },
      ),
      { minLength: 5, maxLength: 70 },
    )
    .map((all): TraceEntryInput[] =>
      all.map((each, index) => ({ ...each, id: `e${index}`, intent_id: 'INT-1' })),
    );

  const told = {
    effect: (tool: string, command: string | undefined) =>
      (command === undefined ? TOOLS[tool] : COMMANDS[command]) ?? 'runs',
    files: ({ payload }: TraceEntryInput) => payload?.target_files ?? [],
    object: ({ payload }: TraceEntryInput) => payload?.command ?? payload?.target_files?.join(', ') ?? '',
  };

  it('every statement of each summary of generated traces is true', () => {
    fc.assert(
      fc.property(entries, (inputs) => {
        expect(everyUntruth(inputs, told)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('every constraint of a request stands in the summary as long as it has room for all of them', () => {
    fc.assert(
      fc.property(entries, (inputs) => {
        let trace = emptyTrace('INT-1');
        for (const input of inputs) trace = addEntry(trace, recordedOf(input), RHYTHM);
        const { text = '' } = summarise(trace, approximateTokenizer, 3000) ?? {};
        const asked = inputs.slice(0, trace.compacted).filter(({ state }) => state === 'REQUEST');
        const said = asked.map(({ payload }) => payload?.reasoning ?? '').join(' ');
        for (const words of ['Never touch the grammar.', 'You must keep', 'Use only the', 'Do not add a'])
          expect(text.includes(`- ${words}`)).toBe(said.replaceAll('\n', ' ').includes(words));
      }),
      { numRuns: 40 },
    );
  });
});

describe('the reader of summaries', () => {
  it('the reader of summaries finds what is not true', () => {
    const entries: TraceEntryInput[] = [
      {
        ...{ id: 'a', intent_id: 'INT-1', action_type: 'TOOL_EXECUTION' },
        payload: { tool_name: 'edit', target_files: ['a.ts'] },
        result: { status: 'FAILURE', error_message: 'no' },
      },
    ];
    const trace: Trace = {
      ...{ entries, compacted: 1 },
      effect: () => 'changes',
      object: () => 'a.ts',
      files: () => ['a.ts'],
    };
    const summary = (...lines: string[]) =>
      ['[Compacted History]', 'Stands for 1 earlier entries of intent INT-1, about 9 tokens.', ...lines].join(
        '\n',
      );
    const failed = 'Errors still unresolved (1 of 1):\n- edit a.ts failed: no';
    expect(untruths(summary(failed), trace)).toEqual([]);
    for (const lie of [
      'Outcomes (1 of 1 tools):\n- edit: 1 succeeded, 0 failed, 0 denied',
      'Errors still unresolved (1 of 2):\n- edit a.ts failed: no',
      'Errors still unresolved (1 of 1):\n- edit b.ts failed: no',
      'Other files changed (1 of 1):\n- a.ts',
      'Denied (1 of 1):\n- edit a.ts: no',
      'Completed steps (1 of 1):\n- edited a.ts',
      'Decisions (1 of 1):\n- wait',
      'Original request: wait',
      'Wishes (1 of 1):\n- wait',
    ])
      expect(untruths(summary(lie), trace)).not.toEqual([]);
  });
});
