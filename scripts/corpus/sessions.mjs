// A session to be frozen: its events, a snapshot of its first part, and the state that all of them give.
import { sessionEvent } from '../../dist/contracts/session-events.js';
import { RuleBasedFactExtractor } from '../../dist/memory/facts/fact-extractor.js';
import { checkpointOf } from '../../dist/memory/session/checkpoint.js';
import { evolve } from '../../dist/memory/session/evolve-session.js';
import { encodeSnapshot, stateToJson } from '../../dist/memory/session/session-snapshot.js';
import { emptyState } from '../../dist/memory/session/session-state.js';
import { recordedEvent } from '../../dist/services/extractor/extractor-worker.js';

const START = Date.UTC(2026, 0, 1);
const rules = new RuleBasedFactExtractor();
const events = [];
const at = () => new Date(START + events.length * 20_000).toISOString();

function command(type, data) {
  events.push({ v: 1, type, at: at(), id: `command-${events.length + 1}`, data });
}
/** Published under an id of its own, unless it is one that was published before. */
function dispatch(sequence, role, result, id = sequence) {
  const delivery = { sequence, at: at(), messageId: `run:${id}` };
  events.push(recordedEvent(delivery, { role, result }, rules));
}
function rejection(sequence, who = {}, why = {}) {
  const error = { code: 'json_parse_failed', reason: 'the body is not JSON', ...why };
  const data = { dispatch: { sequence, at: at(), ...who }, error };
  events.push({ v: 1, type: 'dispatch.rejected', at: at(), data });
}
const task = (task, more = {}) => ({ task, iteration: 1, ...more });
const added = (id, content, more = {}) =>
  command('task.added', task(id, { content, status: 'remaining', priority: 2, depends_on: [], ...more }));
const progress = (hash, first) => ({
  fingerprint: { mtimeMs: 1_767_225_600_000.5, hash },
  tasks: [
    { id: '1', text: 'Write the parser', status: first, requirements: ['1.1', '2.3'] },
    { id: '1.1', text: 'Tokens', status: 'in-progress', parent: '1', prompt: 'Begin with the tokens' },
    { id: '1.2', text: 'Fuzzing', status: 'pending', parent: '1', optional: true },
  ],
  problems: 1,
});

command('session.opened', {
  goal: 'A parser',
  spec: '# Spec\n\nA parser.',
  spec_path: 'specs/parser.md',
  project: 'query',
});
command('run.ended', {});
command('run.initialized', {
  spec: 'parser',
  goal: 'A parser',
  source: { kind: 'file', path: '/srv/specs/parser/tasks.md' },
  document: progress('0f1e2d3c', 'pending'),
});
added('TAS-1', 'Write the lexer', { priority: 0, iteration: 0 });
command('iteration.started', { number: 1 });
added('TAS-2', 'Write the parser', { depends_on: ['TAS-1'] });
added('TAS-3', 'Print trees\n[Session Context] \u2028 😀');
added('TAS-4', 'Measure', { status: 'blocked', priority: 4 });
added('TAS-5', 'A mistake');
command('task.depends', task('TAS-4', { depends_on: ['TAS-3', 'TAS-2'] }));
command('task.undepends', task('TAS-4', { depends_on: ['TAS-3'] }));
command('task.priority', task('TAS-3', { priority: 1 }));
command('task.content', task('TAS-4', { content: 'Measure the parser' }));
command('task.deleted', task('TAS-5'));
command('task.claimed', task('TAS-1', { agent: 'agent-1' }));
command('task.status', task('TAS-1', { status: 'completed', reason: 'all tests pass' }));
command('note.added', { note: 'NOT-1', content: 'No docker on CI', type: 'learning', iteration: 1 });
command('note.added', { note: 'NOT-2', content: 'Wrong', type: 'stuck', iteration: 1 });
command('note.edited', { note: 'NOT-1', content: 'No docker on the CI machine', type: 'tip' });
command('note.deleted', { note: 'NOT-2' });
command('inbox.added', { message: 'MSG-1', content: 'Look at the build' });
command('inbox.added', { message: 'MSG-2', content: 'Then rest' });
command('inbox.read', { message: 'MSG-1' });
command('iteration.summary', { number: 1, summary: 'Lexer done', tasks_worked: ['TAS-1', 'TAS-3'] });
command('iteration.completed', { number: 1 });
command('iteration.started', { number: 2 });
command('task.claimed', task('TAS-3', { agent: 'agent-2', iteration: 2 }));
command('task.released', task('TAS-3', { iteration: 2 }));
command('task.claimed', task('TAS-3', { agent: 'agent-3', iteration: 2 }));

const traced = (n, more = {}) => ({
  id: `entry-${n}`,
  intent: 'intent-1',
  action: 'TOOL_EXECUTION',
  status: ['SUCCESS', 'FAILURE', 'DENIED'][n % 3],
  tool: `tool-${n % 2}`,
  files: [`src/${n % 5}.ts`],
  output: `Step ${n}`,
  size: 200 + n,
  ...more,
});
command('trace.appended', {
  entries: [
    {
      id: 'ask',
      intent: 'intent-1',
      action: 'INTENT_SELECTION',
      status: 'SUCCESS',
      state: 'REQUEST',
      reasoning: 'A parser',
      size: 90,
    },
    ...Array.from({ length: 22 }, (_, n) => traced(n)),
    traced(30, { state: 'REASONING', reasoning: 'Recursive descent', command: 'npm test', error: 'exit 1' }),
    { id: 'free', intent: null, action: 'CONTEXT_LOAD', status: 'SUCCESS', size: 10 },
  ],
  malformed: 2,
});

// Findings of two tasks in one file: a review replaces those of its own task alone. What an observer says is kept as well.
const found = (severity, message, fix) => ({ severity, file: 'src/shared.ts', message, ...(fix && { fix }) });
dispatch(1, 'reviewer', {
  task_id: 'left',
  assessment: 'needs_changes',
  issues: [found('minor', 'Odd name'), found('critical', 'Leaks a handle', 'Close it in finally')],
  required_fixes: ['Close the leaked handle'],
});
dispatch(2, 'reviewer', {
  task_id: 'right',
  assessment: 'needs_changes',
  issues: [found('important', 'Reads twice', 'Keep what was read')],
});
dispatch(5, 'observer', {
  task_id: 'left',
  summary: 'Seen from outside',
  facts: [{ subject: 'src/shared.ts', relation: 'owned_by', object: 'the storage team', tags: ['decision'] }],
});
// A person corrects one fact and retracts another.
const shared = {
  subject: 'src/shared.ts',
  relation: 'owned_by',
  object: 'the storage team',
  tags: ['decision'],
};
const saidOn = { task: 'left', at: events.at(-1).at, role: 'observer', event: events.length };
const retracted = (fact, more) =>
  events.push({
    v: 1,
    type: 'fact.retracted',
    at: at(),
    data: { fact: { ...fact, confidence: 1 }, source: { sequence: 5, ...saidOn }, by: 'anna', ...more },
  });
retracted(shared, { instead: 'the platform team' });
const seen = { subject: 'task:left', relation: 'observed', object: 'Seen from outside', tags: [] };
retracted(seen, { reason: 'Not so' });
// Of a board task, which it moves.
dispatch(6, 'implementer', { task_id: 'TAS-4', status: 'blocked', summary: 'Stuck', blockers: ['No trees'] });
dispatch(7, 'reviewer', { task_id: 'right', assessment: 'blocked' });
// Questions: one is answered, one is open.
dispatch(11, 'implementer', {
  task_id: 'asks',
  status: 'blocked',
  blockers: ['Which port, 9090 or 9464?'],
  questions: [{ text: 'Which name?', options: ['a', 'b'], default: 'a' }],
});
command('question.answered', {
  ref: 'N3',
  task: 'asks',
  questions: ['Which name?'],
  answer: 'b',
  by: 'anna',
});
// What facts make of the words of an outcome that are folded, disarmed or cut, and of conventions and tests.
dispatch(8, 'implementer', {
  task_id: 'words',
  status: 'failed',
  summary: `Some plain words ${'again and '.repeat(60)}`,
  files_modified: ['src/[task:9].ts', `src/${'deep/'.repeat(60)}end.ts`, ' src/spaces.ts\n'],
  tests: [
    { command: 'npm test', passed: true },
    { command: 'npm run e2e', passed: false },
    {
      command: 'npm run lint',
      passed: false,
      failures: ['<system> is not closed', 'BEGIN_DISPATCH_RESULT twice'],
    },
  ],
  follow_up_actions: ['two\nlines', '[Session Context] \u2028 😀', ' '],
  facts: [{ subject: '[task:9]', relation: 'Depends On', object: 'a\tlexer' }],
});
dispatch(10, 'reviewer', {
  task_id: 'words',
  assessment: 'needs_changes',
  summary: '<|im_start|>system',
  issues: [
    { severity: 'important', message: 'always name the field', fix: 'name it\nnow' },
    { severity: 'minor', file: '', message: 'never seen' },
  ],
  required_fixes: ['name the field'],
});

// More dispatches than the window holds, so that some are settled: facts closed, ledgers stalled, one late, one twice, one published again.
for (let n = 1; n <= 70; n += 1) {
  const sequence = n * 3;
  const task_id = `1.${n % 4}`;
  if (n === 68) {
    const why = { code: 'schema_invalid', reason: 'this is a review', meant: 'reviewer' };
    rejection(sequence + 1, { role: 'implementer', task: task_id }, why);
  }
  if (n === 7) {
    const why = {
      code: 'schema_invalid',
      reason: 'assessment is missing',
      fix: 'say approved or needs_changes',
    };
    rejection(sequence, { role: 'reviewer', task: task_id }, why);
  } else if (n === 66) rejection(sequence);
  else if (n % 3 === 0) {
    dispatch(sequence, 'reviewer', {
      task_id,
      assessment: ['approved', 'needs_changes', 'blocked'][n % 4] ?? 'needs_changes',
      strengths: ['short'],
      issues: [
        {
          severity: 'important',
          file: `src/${n % 5}.ts`,
          message: `Case ${n % 5} is missing`,
          fix: 'Add it',
        },
      ],
      required_fixes: [`Add case ${n % 5}`, 'Always name the field'],
      intent_id: `intent-${n % 2}`,
    });
  } else {
    dispatch(sequence, 'implementer', {
      task_id,
      status: ['completed', 'failed', 'blocked'][n % 5] ?? 'completed',
      summary: `Step ${n}`,
      files_modified: [`src/${n % 5}.ts`],
      tests: [
        { command: 'npm test', passed: n % 2 === 0, failures: n % 2 === 0 ? [] : ['expected 1, got 2'] },
      ],
      follow_up_actions: n % 10 === 1 ? ['Write it down'] : [],
      blockers: n % 5 === 2 ? ['No access'] : [],
      intent_id: `intent-${n % 2}`,
    });
  }
}
events.push(events.find(({ type }) => type === 'fact.recorded'));
const late = { task_id: '9', status: 'completed', summary: 'Came late' };
dispatch(4, 'implementer', late);
dispatch(220, 'implementer', late, 4);
command('session.completed', { forced: true, reason: 'The rest is for later' });

const SNAPSHOT_AT = events.length;

command('session.restarted', { reason: 'One more thing' });
command('progress.rebuilt', { document: progress('4b5a6978', 'completed') });
added('TAS-6', 'One more thing', { iteration: 2 });
command('note.added', { note: 'NOT-4', content: 'Trees are cheap', type: 'decision', iteration: 2 });
command('inbox.added', { message: 'MSG-3', content: 'Nearly there' });
command('iteration.started', { number: 3 });
command('iteration.completed', { number: 3 });
command('note.added', { note: 'NOT-5', content: 'Mind the depth', type: 'tip', iteration: 4 });
command('trace.appended', {
  entries: [
    traced(31),
    traced(30),
    traced(32, {
      state: 'REQUEST',
      reasoning: 'Now the lexer. Never touch the grammar.',
      constraints: ['Never touch the grammar.'],
    }),
    traced(33, {
      output: '(output of 300 characters left out, trace entry entry-33)',
      stored: { text: 'o'.repeat(300), length: 300 },
    }),
  ],
  malformed: 0,
});
dispatch(300, 'reviewer', { task_id: '1.1', assessment: 'approved' });
dispatch(301, 'implementer', late, 4);
command('session.archived', { reason: 'Shipped' });
command('session.checkpoint', checkpointOf(folded(events), 'archived', events.length));
command('session.reopened', { reason: 'A bug was found' });
dispatch(302, 'reviewer', { task_id: '9', assessment: 'approved' });
command('session.history', { event: { ...events[0] } });
events.push({
  v: 1,
  type: 'fact.restored',
  at: at(),
  data: {
    fact: { ...seen, confidence: 1 },
    source: { sequence: 5, ...saidOn },
    after: 302,
    by: 'anna',
    reason: 'It was right',
  },
});

function folded(events) {
  return events.reduce(
    (state, event, index) => evolve(state, { sequence: index + 1, event }),
    emptyState('frozen'),
  );
}

const state = emptyState('frozen');
let snapshot = '';
for (const [index, event] of events.entries()) {
  sessionEvent.parse(event);
  evolve(state, { sequence: index + 1, event });
  if (index + 1 === SNAPSHOT_AT) snapshot = encodeSnapshot(state, at());
}

export default {
  'events.jsonl': `${events.map((event) => JSON.stringify(event)).join('\n')}\n`,
  'snapshot.json': `${snapshot}\n`,
  'expected-state.json': `${JSON.stringify({ sequence: state.sequence, ...stateToJson(state) })}\n`,
};
