import { expect, it } from 'vitest';
import { SESSION_EVENTS } from '../../../src/contracts/session-events.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { ImportedState } from '../../../src/memory/session/imported-state.js';
import { factsOf, ledgersOf } from '../../../src/memory/session/session-state.js';
import { implementer, recorded, reviewer, stored } from '../../support/builders.js';

it('the results of an imported session are older than any new one, whatever their numbers were', () => {
  const imported = new ImportedState();
  const fixes = { assessment: 'needs_changes' as const, required_fixes: ['check the bounds'] };
  for (const each of stored([
    recorded(900, implementer({ task_id: '1' })),
    recorded(901, reviewer({ task_id: '1', ...fixes })),
  ]))
    imported.add(each);
  const state = imported.settled('moved');

  expect(ledgersOf(state).get('1')).toMatchObject({ requiredFixes: ['check the bounds'] });
  const [approved] = stored([recorded(1, reviewer({ task_id: '1', assessment: 'approved' }))]);
  if (approved !== undefined) evolve(state, { ...approved, sequence: 3 });
  expect(state.dispatches.current().counts).toMatchObject({ implementer: 1, reviewer: 2 });
  expect(ledgersOf(state).get('1')).toMatchObject({ requiredFixes: [] });
});

it('a retracted fact of an imported result stays retracted when the log is read again', () => {
  const imported = new ImportedState();
  for (const each of stored([recorded(900, implementer({ task_id: '1', files_modified: ['a.ts'] }))]))
    imported.add(each);
  const state = imported.settled('moved');
  const [fact] = factsOf(state).all();
  if (fact === undefined) throw new Error('no fact');
  expect(fact.sourceSequence).toBe(0);
  const { subject, relation, object, tags } = fact;
  const source = {
    sequence: fact.sourceSequence,
    task: '1',
    at: fact.validFrom,
    role: fact.sourceRole,
    event: 1,
  };
  const written = {
    v: 1,
    type: 'fact.retracted',
    at: fact.validFrom,
    data: { fact: { subject, relation, object, tags }, source, by: 'ada' },
  };
  const event = SESSION_EVENTS.parse(written);
  if (event === undefined) throw new Error('the event cannot be read');
  evolve(state, { sequence: 2, event });
  expect(factsOf(state).all()[0]).toMatchObject({ retracted: { by: 'ada' } });
});

it('a new result is in the trace of its intent although its number was one of an imported result', () => {
  const returned = implementer({ task_id: '1', intent_id: 'INT-1' });
  const imported = new ImportedState();
  for (const each of stored([recorded(1, returned)])) imported.add(each);
  const state = imported.settled('moved');
  const [again] = stored([recorded(1, returned)]);
  if (again !== undefined) evolve(state, { ...again, sequence: 2 });
  expect(state.dispatches.current().traces.intents.get('INT-1')).toMatchObject({ total: 2 });
});
