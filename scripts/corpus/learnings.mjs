// A project's learnings to be frozen: their events, a snapshot of the first part, and the state that all of them give.
import { learningEvent } from '../../dist/contracts/learning-events.js';
import { evolveLearnings } from '../../dist/memory/learnings/evolve-learnings.js';
import { encodeLearnings } from '../../dist/memory/learnings/learnings-snapshot.js';
import { demandId, emptyLearnings, learningId } from '../../dist/memory/learnings/learnings-state.js';

const PROJECT = 'frozen';
const START = Date.UTC(2026, 0, 1);
const events = [];
const at = () => new Date(START + events.length * 20_000).toISOString();
const id = (text) => learningId(PROJECT, text);

function happens(type, data) {
  const event = { v: 1, type, at: at(), id: `command-${events.length + 1}`, data };
  events.push(learningEvent.parse(event));
}
function proposed(content, more = {}) {
  const data = { proposal: id(content), type: 'insight', content, tags: [], method: 'manual' };
  happens('proposed', { ...data, source: {}, evidence: [], ...more });
}
const accepted = (text, more = {}) => happens('accepted', { proposal: id(text), by: 'ann', ...more });
const demand = (kind, text) => ({ id: demandId(PROJECT, text), kind, text });
const observed = (dispatch, task, demands, session = 'query') =>
  happens('observed', { session, dispatch, task, demands });

const FIELD = 'Name the field in every error message';
const NEAR = 'Name the field in every single error message';
const NOTE = 'No docker on the CI machine';
const CLOSE = demand('fix', 'Close the file in src/lexer.ts:12');

proposed(FIELD, { type: 'pattern', tags: ['errors', 'api'], confidence: 0.85 });
proposed(NOTE, { tags: ['learning'], method: 'note', source: { session: 'query', note: 'NOT-1' } });
proposed('Trees\u2028are cheap 😀', { type: 'self_knowledge', source: { session: 'query', dispatch: 4 } });
accepted(FIELD);
accepted(NOTE, { by: 'bob' });
observed(3, '1', [CLOSE, demand('issue', 'Case 3 is missing')]);
observed(9, '2', [demand('fix', 'close the file in lib/b.ts'), demand('convention', 'Always name things')]);
observed(9, '2', [demand('fix', 'close the file in lib/b.ts'), demand('convention', 'Always name things')]);
happens('proposed', {
  proposal: CLOSE.id,
  type: 'pattern',
  content: CLOSE.text,
  tags: ['fix'],
  confidence: 0.67,
  method: 'recurring_fix',
  source: { session: 'query', dispatch: 3 },
  evidence: [
    { session: 'query', dispatch: 3, task: '1' },
    { session: 'query', dispatch: 9, task: '2' },
  ],
});
observed(6, '3', [CLOSE]);
proposed(NEAR, { evidence: [{ session: 'query', dispatch: 3, task: '1' }] });
accepted(NEAR, { merged_into: id(FIELD) });
happens('rejected', { proposal: id('Trees\u2028are cheap 😀'), by: 'bob', reason: 'too vague' });
happens('rejected', { proposal: id(FIELD), by: 'late' });
proposed('Prefer small files');
accepted('Prefer small files');
proposed('Prefer files below 250 lines');
accepted('Prefer files below 250 lines');
happens('retracted', { learning: id('Prefer small files'), by: 'ann' });
proposed('Retry on every fault');
accepted('Retry on every fault');
happens('retracted', { learning: id('Retry on every fault'), by: 'bob', reason: 'it hides them' });

const SNAPSHOT_AT = events.length;

observed(12, '1', [CLOSE, demand('issue', 'Case 4 is missing')], 'other');
happens('accepted', { proposal: CLOSE.id, by: 'ann' });
proposed('Retry on every fault', { tags: ['again'] });
proposed('Trees\u2028are cheap 😀', { method: 'note' });
happens('retracted', { learning: id(NOTE), by: 'ann' });
for (let n = 1; n <= 25; n += 1) observed(20 + n, `t${n}`, [CLOSE]);

const state = emptyLearnings(PROJECT);
let snapshot = '';
for (const [index, event] of events.entries()) {
  evolveLearnings(state, { sequence: index + 1, event });
  if (index + 1 === SNAPSHOT_AT) snapshot = encodeLearnings(state, at());
}

export default {
  'events.jsonl': `${events.map((event) => JSON.stringify(event)).join('\n')}\n`,
  'snapshot.json': `${snapshot}\n`,
  'expected-state.json': `${JSON.stringify(JSON.parse(encodeLearnings(state, at())).state)}\n`,
};
