import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, factsOf } from '../../../../src/memory/session/session-state.js';
import { observer, recorded } from '../../../support/builders.js';
import { argumentsOf, Played, timeAt } from '../../../support/played.js';

describe('note-add', () => {
  it('note-add adds NOT-1 as a learning, with the iteration that runs', () => {
    const { event, reply } = new Played()
      .after('iteration-start', {})
      .when('note-add', { content: ' No docker ' });
    expect(event).toEqual({
      type: 'note.added',
      data: { note: 'NOT-1', content: 'No docker', type: 'learning', iteration: 1 },
    });
    expect(reply).toEqual({
      note: {
        id: 'NOT-1',
        content: 'No docker',
        type: 'learning',
        created_at: timeAt(1),
        updated_at: timeAt(1),
        iteration: 1,
      },
    });
  });

  it('note-add says so in a session that now has as many statements as it keeps, and then ends the oldest', () => {
    const played = new Played('demo', { ...DEFAULT_LIMITS, maxFacts: 2 });
    expect(played.when('note-add', { content: 'one' }).reply).not.toHaveProperty('keeps');
    expect(played.when('note-add', { content: 'two' }).reply).toMatchObject({ keeps: 2 });
    played.after('note-add', { content: 'three' });
    expect(played.view('note-list', {})).toMatchObject({ notes: [{ id: 'NOT-2' }, { id: 'NOT-3' }] });
  });

  it.each([
    ['Decided: Use dayjs', { type: 'decision', content: 'Use dayjs' }],
    ['rule： Never touch legacy/', { type: 'rule', content: 'Never touch legacy/' }],
    ['Failed: Express 5', { type: 'stuck', content: 'Express 5' }],
    ['Decided:', { type: 'learning', content: 'Decided:' }],
  ])('note-add reads the type of a labelled line: %s', (content, data) => {
    expect(new Played().when('note-add', { content })).toMatchObject({ event: { data } });
  });

  it('note-add refuses any other type, and an empty note', () => {
    expect(() => argumentsOf('note-add', { content: 'x', type: 'rant' })).toThrow(
      /^type is "rant": use one of learning, stuck, tip, decision, rule$/,
    );
    expect(() => argumentsOf('note-add', { content: ' ' })).toThrow(/^content: .*must not be empty/);
  });
});

describe('a note in the words of an earlier statement', () => {
  const note = { content: 'Use dayjs', type: 'decision' } as const;
  const line = (played: Played) => {
    const facts = [{ subject: 'task:c', relation: 'decided', object: 'use dayjs' }];
    const event = recorded(5, observer({ task_id: 'c', facts }));
    return played.foldWhole({ ...event, data: { ...event.data, refs: { decided: ['M5'] } } });
  };
  const held = ({ state }: Played) =>
    factsOf(state)
      .getValid()
      .flatMap(({ ref }) => ref ?? []);
  const retract = (played: Played, ref: string) => {
    const fact = factsOf(played.state)
      .all()
      .find((each) => each.ref === ref);
    if (fact === undefined) throw new Error(`no ${ref}`);
    played.state.dispatches.change(({ facts }) => facts.retract(fact, { by: 'ann', at: timeAt(1) }));
    return played;
  };

  it('is that one, however often and by which door it comes; only a person outranks it', () => {
    const played = new Played().after('note-add', { ...note, by: 'ann', person: true });
    expect(played.when('note-add', note)).toMatchObject({ reply: { note: { id: 'NOT-1' } } });
    expect(played.when('note-add', note)).not.toHaveProperty('event');
    expect(held(line(played))).toEqual(['N1']);
    const ofAgent = new Played().after('note-add', note);
    expect(ofAgent.when('note-add', { ...note, paths: ['a/'] })).toHaveProperty('event');
    expect(ofAgent.when('note-add', { ...note, by: 'ann', person: true })).toHaveProperty('event');
  });

  it('brings back what a person withdrew only as the word of a person', () => {
    for (const played of [
      retract(line(new Played()), 'M5'),
      line(retract(new Played().after('note-add', note), 'N1')),
      line(new Played().after('note-add', note).after('note-delete', { id: '1', person: true })),
    ]) {
      expect(held(played)).toEqual([]);
      expect(played.when('note-add', note).refused).toMatchObject({ code: 'conflict' });
      played.after('note-add', { ...note, content: 'Use luxon' });
      const [other = ''] = held(played).map((ref) => ref.slice(1));
      expect(played.when('note-edit', { id: other, content: 'Use dayjs' }).refused?.message).toContain(
        'was withdrawn by a',
      );
      played.after('note-add', { ...note, by: 'ben', person: true });
      expect(held(played)).toHaveLength(2);
    }
  });
});

describe('a note that denies what an older statement says', () => {
  const said = (object: string, more: object = {}) => {
    const played = new Played();
    const event = recorded(
      1,
      observer({ facts: [{ subject: 'task:c', relation: 'decided', object, ...more }] }),
    );
    played.foldWhole({ ...event, data: { ...event.data, refs: { decided: ['M1'] } } });
    return played;
  };
  const held = ({ state }: Played) =>
    factsOf(state)
      .getValid()
      .flatMap(({ ref }) => ref ?? [])
      .sort();
  const note = { content: 'No Drizzle: plain SQL through pg', type: 'decision' } as const;

  it('ends it, says so in its event, and no longer does once it is removed, until it is restored', () => {
    const played = said('PostgreSQL through Drizzle');
    expect(played.when('note-add', note)).toMatchObject({
      event: { data: { ends: [{ id: 'M1', by: 'N1', how: 'replaced', term: 'Drizzle' }] } },
    });
    expect(held(played)).toEqual(['N1']);
    for (let round = 0; round < 2; round += 1) {
      played.after('note-delete', { id: 'NOT-1', ...(round > 0 && { person: true }) });
      expect(held(played)).toEqual(['M1']);
      played.state.dispatches.change(({ facts }) => {
        const [removed] = facts.all().filter(({ ref }) => ref === 'N1');
        if (removed !== undefined) facts.restore(removed, { by: 'ann', at: timeAt(9), after: 1 });
      });
      expect(held(played)).toEqual(['N1']);
    }
  });

  it("ends a user's word only as the word of a person", () => {
    const played = said('PostgreSQL through Drizzle', { origin: 'user' });
    played.after('note-add', note);
    expect(held(played)).toEqual(['M1', 'N1']);
    played.after('note-add', { ...note, by: 'ann', person: true });
    expect(held(played)).not.toContain('M1');
  });

  it('of type learning ends nothing', () => {
    const played = said('PostgreSQL through Drizzle').after('note-add', { content: note.content });
    expect(held(played)).toEqual(['M1', 'N1']);
  });
});

describe('note-edit', () => {
  it('note-edit changes text, type or both', () => {
    const played = new Played().after('note-add', { content: 'x' });
    expect(played.when('note-edit', { id: '1', type: 'tip' })).toEqual({
      event: { type: 'note.edited', data: { note: 'NOT-1', type: 'tip' } },
      reply: {
        note: expect.objectContaining({
          content: 'x',
          type: 'tip',
          created_at: timeAt(0),
          updated_at: timeAt(1),
        }),
      },
    });
    expect(played.when('note-edit', { id: 'not-1', content: 'y' })).toMatchObject({
      event: { data: { note: 'NOT-1', content: 'y' } },
      reply: { note: { content: 'y', type: 'tip' } },
    });
  });
});

describe('note-delete and note-list', () => {
  it('note-delete and note-list take a note away: its id does not come again', () => {
    const played = new Played()
      .after('note-add', { content: 'x' })
      .after('note-add', { content: 'y', type: 'stuck' });
    expect(played.when('note-delete', { id: '2' })).toEqual({
      event: { type: 'note.deleted', data: { note: 'NOT-2', by: 'an agent (without a name)' } },
      reply: { note: null, deleted: 'NOT-2' },
    });
    expect(played.when('note-delete', { id: '2' })).toMatchObject({ refused: { code: 'not_found' } });
    played.after('note-add', { content: 'z', type: 'stuck' });
    expect(played.view('note-list', {})).toMatchObject({ notes: [{ id: 'NOT-1' }, { id: 'NOT-3' }] });
    expect(played.view('note-list', { type: 'stuck' })).toMatchObject({ notes: [{ id: 'NOT-3' }] });
    expect(played.view('note-list', { type: 'tip' })).toEqual({ notes: [] });
  });
});

describe('the inbox', () => {
  it('the inbox marks a message as read: the second time the same answer, and no event', () => {
    const played = new Played().after('inbox-add', { content: 'x' }).after('inbox-add', { content: 'y' });
    const first = played.when('inbox-mark-read', { id: 'msg-1' });
    expect(first.event).toEqual({ type: 'inbox.read', data: { message: 'MSG-1' } });
    expect(first.reply).toMatchObject({ message: { id: 'MSG-1', read: true } });
    expect(played.when('inbox-mark-read', { id: '1' })).toEqual({ reply: first.reply });
    const again = played.when('inbox-mark-read', { id: '1', unread: true });
    expect(again.event).toEqual({ type: 'inbox.read', data: { message: 'MSG-1', unread: true } });
    expect(again.reply).toMatchObject({ message: { id: 'MSG-1', read: false } });
    expect(played.when('inbox-mark-read', { id: '3' })).toMatchObject({ refused: { code: 'not_found' } });
  });

  it('a message says before its text who left it: a person by name, all others by the name that they claim', () => {
    const played = new Played().after('inbox-add', { content: 'x', by: 'ann', person: true });
    played
      .after('inbox-add', { content: 'from a person: y', by: 'a person' })
      .after('inbox-add', { content: 'z' });
    const by = ['ann', 'an agent (a person)', 'an agent (without a name)'];
    expect(played.view('inbox-list', {})).toMatchObject({ messages: by.map((by) => ({ by })) });
  });
});
