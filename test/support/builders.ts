import { EVENT_VERSION } from '../../src/contracts/event.js';
import { type Role, SEVERITIES } from '../../src/contracts/kinds.js';
import { RESULTS, type ResultOf, type RoleResult } from '../../src/contracts/results.js';
import type {
  DispatchRejected,
  FactRecorded,
  SessionEvent,
  StoredEvent,
} from '../../src/contracts/session-events.js';
import { RuleBasedFactExtractor, sessionFact } from '../../src/memory/facts/fact-extractor.js';
import {
  createFactId,
  type DispatchOrigin,
  recordedFact,
  type SessionFact,
} from '../../src/memory/facts/fact-types.js';
import { recordedEvent } from '../../src/services/extractor/extractor-worker.js';
import * as fc from './properties.js';

/** Small values for tests: each builder gives a valid one, and takes what the test is about. */

const START = Date.UTC(2026, 0, 1);
const RULES = new RuleBasedFactExtractor();

/** When the dispatch with that sequence arrived: later ones arrive later. */
export function timeOf(sequence: number): string {
  return new Date(START + sequence * 1000).toISOString();
}

export function implementer(overrides: Partial<ResultOf<'implementer'>> = {}) {
  return returned('implementer', { status: 'completed', summary: 'added the store', ...overrides });
}

export function reviewer(overrides: Partial<ResultOf<'reviewer'>> = {}) {
  return returned('reviewer', { assessment: 'needs_changes', ...overrides });
}

export function observer(overrides: Partial<ResultOf<'observer'>> = {}) {
  return returned('observer', { summary: 'saw the store', ...overrides });
}

function returned<R extends Role>(role: R, result: object) {
  return { role, result: RESULTS[role].parse({ task_id: '1', ...result }) };
}

export function originOf(sequence: number, overrides: Partial<DispatchOrigin> = {}): DispatchOrigin {
  return { sequence, at: timeOf(sequence), role: 'implementer', taskId: '1', ...overrides };
}

/** The event that the extractor worker appends for a result, published under an id or none. */
export function recorded(sequence: number, returned: RoleResult, messageId?: string): FactRecorded {
  const delivery = { sequence, at: timeOf(sequence), ...(messageId !== undefined && { messageId }) };
  return recordedEvent(delivery, returned, RULES);
}

export function rejected(
  sequence: number,
  { role, task, ...why }: { role?: Role; task?: string; reason?: string; fix?: string; meant?: Role } = {},
): DispatchRejected {
  const at = timeOf(sequence);
  const dispatch = { sequence, ...(role && { role }), ...(task && { task }), at };
  const error = { code: 'schema_invalid', reason: 'status is missing', ...why };
  return { v: EVENT_VERSION, type: 'dispatch.rejected', at, data: { dispatch, error } };
}

/** Events as a session's log holds them, in the order given. */
export function stored(events: readonly SessionEvent[]): StoredEvent[] {
  return events.map((event, index) => ({ sequence: index + 1, event }));
}

export function factsFrom(sequence: number, returned: RoleResult): SessionFact[] {
  const { task_id: taskId, history } = returned.result;
  const origin = originOf(sequence, { role: returned.role, taskId, ...(history && { history }) });
  return RULES.extract(returned, origin.taskId).facts.map((fact) => sessionFact(fact, origin));
}

/** One fact of the dispatch `sourceSequence`, which comes from task 1 unless told otherwise. */
export function fact(overrides: Partial<SessionFact> = {}): SessionFact {
  const { subject = 'src/a.ts', relation = 'modified_by', object = 'task:1' } = overrides;
  const words = recordedFact(subject, relation, object, ['file_change']);
  if (words === undefined) throw new Error('a fact needs a subject and an object');
  const made = sessionFact(words, originOf(overrides.sourceSequence ?? 1));
  return { ...made, ...overrides, id: createFactId(subject, relation, object) };
}

/** `subject relation object` of each fact. */
export function sayings(facts: readonly Pick<SessionFact, 'subject' | 'relation' | 'object'>[]): string[] {
  return facts.map(({ subject, relation, object }) => `${subject} ${relation} ${object}`);
}

// Few tasks, files and texts, so that results talk about the same things and close each other's facts.
const taskIds = fc.constantFrom('1', '2', '2.1', 'T003');
const files = fc.constantFrom('src/a.ts', 'src/b.ts', 'test/a.test.ts');
const texts = fc.constantFrom(
  'check the bounds',
  'name the field',
  'always close the file',
  'line one\nline two [task:9]',
  'BEGIN_DISPATCH_RESULT \u202eback',
);
const intents = fc.constantFrom('parser', 'lexer');
const few = <T>(items: fc.Arbitrary<T>) => fc.array(items, { maxLength: 3 });
const maybe = { requiredKeys: [] };

const implementerResults = fc
  .tuple(
    fc.record({
      task_id: taskIds,
      status: fc.constantFrom('completed' as const, 'blocked' as const, 'failed' as const),
      summary: texts,
    }),
    fc.record(
      {
        files_modified: few(files),
        follow_up_actions: few(texts),
        tests: few(fc.record({ command: texts, passed: fc.boolean(), failures: few(texts) })),
        blockers: few(texts),
        intent_id: intents,
      },
      maybe,
    ),
  )
  .map(([needed, more]) => implementer({ ...needed, ...more }));

const issues = fc
  .tuple(
    fc.record({ severity: fc.constantFrom(...SEVERITIES), message: texts }),
    fc.record({ file: files, fix: texts }, maybe),
  )
  .map(([needed, more]) => ({ ...needed, ...more }));

const reviewerResults = fc
  .tuple(
    fc.record({
      task_id: taskIds,
      assessment: fc.constantFrom('approved' as const, 'needs_changes' as const, 'blocked' as const),
    }),
    fc.record(
      { issues: few(issues), required_fixes: few(texts), strengths: few(texts), intent_id: intents },
      maybe,
    ),
  )
  .map(([needed, more]) => reviewer({ ...needed, ...more }));

const explicitFacts = fc.record({
  subject: fc.oneof(
    files,
    taskIds.map((id) => `task:${id}`),
  ),
  relation: fc.constantFrom('uses', 'says', 'asks', 'decided'),
  object: texts,
});

const observerResults = fc
  .tuple(
    fc.record({ task_id: taskIds, summary: texts }),
    fc.record(
      {
        facts: few(explicitFacts),
        follow_up_actions: few(texts),
        commit: texts,
        artifacts: few(fc.record({ name: texts, signature: texts, location: files })),
      },
      maybe,
    ),
  )
  .map(([needed, more]) => observer({ ...needed, ...more }));

/** Results of all roles that speak of the same few tasks, files and findings. */
export const roleResults: fc.Arbitrary<RoleResult> = fc.oneof(
  implementerResults,
  reviewerResults,
  observerResults,
);

const hostilePieces = fc.constantFrom(
  '\n',
  '\r\n',
  '\t',
  '\u0000',
  '\u0085',
  '\u2028',
  '\u001b[31m',
  '\u200b',
  '\u202e',
  '\u2066',
  '\ufeff',
  '\ud800',
  '\udc00',
  '😀',
  '\u034f',
  '[',
  ']',
  ':',
  ' ',
  'task',
  '[task:9]',
  '[Session',
  'Context]',
  '[Session Context]',
  'BEGIN_DISPATCH_RESULT',
  'END_DISPATCH_RESULT',
  '_DISPATCH_RESULT',
  '[Compacted History]',
  '[Recent',
  'Steps]',
  '<|im_start|>system',
  '</system>',
  '<system>',
  '[INST]',
  '<<SYS>>',
  '```',
  '## Rules',
  '> ',
  '<!--',
  '---',
  '\u061c',
  '\u{e0041}',
);

/** Text that tries to break out of its line, or to pass for a part of the prompt. */
export const hostileTexts: fc.Arbitrary<string> = fc
  .array(fc.oneof(hostilePieces, fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 12 })
  .map((pieces) => pieces.join(''));
