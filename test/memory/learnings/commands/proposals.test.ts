import { describe, expect, it } from 'vitest';
import { MAX_MANUAL, MAX_WAITING_OF_SESSION } from '../../../../src/memory/learnings/harvest.js';
import { demandId } from '../../../../src/memory/learnings/learnings-state.js';
import { timeOf } from '../../../support/builders.js';
import { accepted, idOf, Project, proposed } from '../../../support/learning-project.js';

const TEXT = 'Name the field in every error message';
const NEAR = 'Name the field in every message of an error';
const id = idOf(TEXT);
const retracted = { type: 'retracted', data: { learning: id, by: 'bob' } } as const;

describe('learning.propose', () => {
  it('learning.propose makes a proposal that waits', () => {
    const project = new Project();
    const reply = project.does('learning.propose', {
      content: ' Name the\nfield ',
      type: 'pattern',
      tags: ['api', 'api', '\u200b '],
      confidence: 0.4,
      source: { session: 's1', dispatch: 7, note: 'NOT-1' },
    });
    expect(reply).toEqual({
      project: 'demo',
      proposal: {
        id: idOf('Name the field'),
        type: 'pattern',
        content: 'Name the field',
        tags: ['api'],
        source: { session: 's1', dispatch: 7, note: 'NOT-1' },
        method: 'manual',
        evidence: [],
        confidence: 0.4,
        status: 'pending',
        extractedAt: timeOf(60),
      },
      learning: null,
      similar: null,
      existing: false,
    });
  });

  it.each([
    ['waits', [proposed(TEXT)], 'pending'],
    ['is in force', [proposed(TEXT), accepted(TEXT)], 'accepted'],
  ])('learning.propose appends nothing for a text that %s', (_state, given, status) => {
    const project = new Project(...given);
    const reply = project.does('learning.propose', { content: TEXT.toUpperCase(), tags: ['new'] });
    expect(reply).toMatchObject({ existing: true, proposal: { id, status, tags: [], content: TEXT } });
    expect(project.events).toHaveLength(given.length);
  });

  it('a rejected proposal of a rule that a person proposes again is the same one, with its evidence', () => {
    const content = `${TEXT} of src/a.ts`;
    const evidence = [{ session: 's1', dispatch: 9, task: '4' }];
    const more = { proposal: demandId('demo', content), method: 'recurring_fix' as const, confidence: 0.95 };
    const project = new Project(proposed(content, { ...more, evidence }));
    project.does('proposal.reject', { id: more.proposal });
    const { proposal: id, ...kept } = more;
    const again = project.does('learning.propose', { content });
    expect(again).toMatchObject({ proposal: { ...kept, id, evidence, status: 'pending' } });
  });

  it.each(['\u200b\u2060', '\u001b[31m'])(
    'learning.propose refuses what holds no visible text: %j',
    (content) => {
      expect(new Project().refuses('learning.propose', { content })).toMatchObject({
        code: 'schema_invalid',
        message: 'content: must contain visible text',
      });
    },
  );
});

describe('learning.propose, while many proposals made by hand wait', () => {
  const waiting = (count: number, session: string) =>
    Array.from({ length: count }, (_, n) =>
      proposed(`${session} waits ${n}`, { method: 'manual', source: { session } }),
    );

  it('learning.propose refuses more of a project while too many wait, whatever session is named', () => {
    const all = Array.from({ length: 5 }, (_, n) => waiting(MAX_MANUAL / 5, `s${n}`)).flat();
    const project = new Project(
      ...all,
      ...Array.from({ length: 9 }, (_, n) => proposed(`Rule ${n}`, { method: 'note' })),
    );
    expect(project.refuses('learning.propose', { content: TEXT, source: { session: 'new' } })).toMatchObject({
      code: 'limit_reached',
      message: expect.stringContaining(`${MAX_MANUAL} proposals made by hand in project demo are pending`),
    });
    // What stands there already is found again.
    expect(project.does('learning.propose', { content: 's1 waits 1' })).toMatchObject({ existing: true });
    project.happens({ type: 'rejected', data: { proposal: idOf('s0 waits 0'), by: 'bob' } });
    expect(project.does('learning.propose', { content: TEXT })).toMatchObject({ existing: false });
  });
});

describe('a list that comes in pages', () => {
  const TEXTS = ['One', 'Two', 'Three', 'Four', 'Five'];

  it('the pages of a list of proposals repeat and miss none, whatever is proposed and decided meanwhile', () => {
    const project = new Project(...TEXTS.map((text) => proposed(text)));
    const first = project.does('proposal.list', { limit: 2 });
    expect(first).toMatchObject({
      total: 5,
      next: idOf('Four'),
      proposals: [{ content: 'Five' }, { content: 'Four' }],
    });
    project.happens({ type: 'rejected', data: { proposal: idOf('Four'), by: 'bob' } });
    project.happens(proposed('Six'));
    const second = project.does('proposal.list', { limit: 2, cursor: idOf('Four') });
    expect(second).toMatchObject({
      total: 5,
      next: idOf('Two'),
      proposals: [{ content: 'Three' }, { content: 'Two' }],
    });
    const last = project.does('proposal.list', { limit: 2, cursor: idOf('Two') });
    expect(last).toMatchObject({ proposals: [{ content: 'One' }] });
    expect(last).not.toHaveProperty('next');
  });

  it('a list of learnings goes on where the page before ended', () => {
    const project = new Project(...['One', 'Two'].flatMap((text) => [proposed(text), accepted(text)]));
    expect(project.does('learning.list', { limit: 1 })).toMatchObject({ total: 2, next: idOf('Two') });
    const second = project.does('learning.list', { cursor: idOf('Two') });
    expect(second).toMatchObject({ learnings: [{ content: 'One' }] });
    project.happens({ type: 'retracted', data: { learning: idOf('One'), by: 'bob' } });
    expect(project.refuses('learning.list', { cursor: idOf('One') })).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('start again with the first page'),
    });
  });
});

describe('proposal.list', () => {
  const project = new Project(
    ...['One', 'Two', 'Three'].map((text) => proposed(text)),
    accepted('One'),
    { type: 'rejected', data: { proposal: idOf('Two'), by: 'bob' } },
    proposed('Four'),
  );

  it.each([
    [undefined, ['Four', 'Three']],
    ['pending', ['Four', 'Three']],
    ['accepted', ['One']],
    ['rejected', ['Two']],
    ['all', ['Four', 'Three', 'Two', 'One']],
  ] as const)('proposal.list gives the proposals of the status %s, the newest first', (status, texts) => {
    const reply = project.does('proposal.list', status === undefined ? {} : { status });
    expect(reply).toEqual({
      project: 'demo',
      total: texts.length,
      proposals: texts.map((content) => expect.objectContaining({ content })),
    });
  });

  it('proposal.list says of which sessions so many wait that rules make no more of theirs', () => {
    const of = (session: string, count: number) =>
      Array.from({ length: count }, (_, n) =>
        proposed(`${session} ${n}`, { method: 'note', source: { session } }),
      );
    const given = ['s2', 's1'].flatMap((session) => of(session, MAX_WAITING_OF_SESSION));
    const reply = new Project(...given, ...of('s3', 3)).does('proposal.list', { limit: 1 });
    expect(reply).toMatchObject({ sessionsPaused: ['s1', 's2'] });
    expect(reply).not.toHaveProperty('rulesPaused');
  });
});

describe('proposal.show', () => {
  it('proposal.show gives the proposal, its learning, what became of it, and what is nearly the same', () => {
    const project = new Project(
      ...[proposed(TEXT, { tags: ['api'] }), accepted(TEXT), proposed(NEAR), accepted(NEAR)],
    );
    expect(project.does('proposal.show', { id })).toMatchObject({
      proposal: { id, status: 'accepted', tags: ['api'] },
      learning: { id, tags: ['api'] },
      similar: { learning: idOf(NEAR), similarity: 0.78 },
    });
    project.happens(retracted);
    expect(project.does('proposal.show', { id })).toMatchObject({
      proposal: { status: 'retracted', decidedBy: 'bob' },
      learning: null,
    });
  });
});

describe('proposal.accept', () => {
  it.each([
    [undefined, 'unknown'],
    ['\u200b', 'unknown'],
    ['ann\n\u001b[31mroot', 'ann root'],
  ])('proposal.accept with %j as `by` records %s', (by, expected) => {
    const reply = new Project(proposed(TEXT)).does('proposal.accept', by === undefined ? { id } : { id, by });
    expect(reply).toMatchObject({ proposal: { decidedBy: expected } });
  });

  it.each([
    ['accepted', accepted(TEXT, 'ann')],
    ['rejected', { type: 'rejected', data: { proposal: id, by: 'ann' } } as const],
  ])('a second decision is told who %s the proposal and when', (status, decision) => {
    for (const name of ['proposal.accept', 'proposal.reject'] as const) {
      expect(new Project(proposed(TEXT), decision).refuses(name, { id, by: 'bob' })).toEqual({
        kind: 'refuse',
        code: 'already_decided',
        message: `proposal ${id} was ${status} by ann at ${timeOf(120)}`,
        details: { id, status, decidedBy: 'ann', decidedAt: timeOf(120) },
      });
    }
  });

  describe('of what a learning says nearly', () => {
    const evidence = [{ session: 's2', dispatch: 9, task: '4' }];
    const given = [proposed(TEXT), accepted(TEXT), proposed(NEAR, { evidence })];
    const near = { id: idOf(NEAR) };

    it('proposal.accept refuses a near-duplicate, with the learning and the two ways out', () => {
      const refusal = new Project(...given).refuses('proposal.accept', near);
      expect(refusal).toMatchObject({
        code: 'near_duplicate',
        details: { proposal: near.id, learning: id, content: TEXT, similarity: 0.78 },
      });
      expect(refusal.message).toBe(
        `learning ${id} says nearly the same (0.78): "${TEXT}". ` +
          'Accept with merge to add the evidence to it, or with separate to keep both',
      );
    });

    it('proposal.accept with merge adds the evidence to the learning, and is on record', () => {
      const project = new Project(...given);
      const reply = project.does('proposal.accept', { ...near, merge: true, by: 'ann' });
      expect(reply).toMatchObject({
        proposal: { status: 'accepted', decidedBy: 'ann', mergedInto: id },
        learning: { id, content: TEXT, evidence },
      });
      expect(project.learnings()).toEqual([TEXT]);
      expect(project.events.at(-1)?.event).toMatchObject({ type: 'accepted', data: { merged_into: id } });
    });

    it('proposal.accept refuses merge and separate at once, and a merge into nothing', () => {
      expect(
        new Project(...given).refuses('proposal.accept', { ...near, merge: true, separate: true }),
      ).toMatchObject({
        code: 'schema_invalid',
        message: 'merge: cannot be combined with separate',
      });
      expect(new Project(proposed(TEXT)).refuses('proposal.accept', { id, merge: true })).toMatchObject({
        code: 'not_found',
      });
    });

    it('proposal.accept never takes the opposite for the same', () => {
      const opposite = 'Never name the field in every error message';
      const project = new Project(proposed(TEXT), accepted(TEXT), proposed(opposite));
      expect(project.does('proposal.accept', { id: idOf(opposite) })).toMatchObject({ similar: null });
    });
  });

  describe('of the very text of a learning', () => {
    const other = 'Close the file';
    // A proposal of a rule has the id of its demand.
    const given = [proposed(`${TEXT}!`, { proposal: idOf(other) }), accepted(other), proposed(TEXT)];

    it.each([{}, { separate: true }])(
      'proposal.accept refuses the very text of a learning, whatever is asked: %j',
      (more) => {
        const refusal = new Project(...given).refuses('proposal.accept', { id, ...more });
        expect(refusal.code).toBe('near_duplicate');
        expect(refusal.message).toBe(
          `learning ${idOf(other)} says the same: "${TEXT}!". ` +
            'Accept with merge to add the evidence to it, or reject the proposal',
        );
      },
    );

    it('proposal.accept refuses the very text of a learning beside one that has the same words in another order', () => {
      const order = 'In every error message name the field';
      const project = new Project(proposed(order), accepted(order), ...given);
      expect(project.refuses('proposal.accept', { id, separate: true })).toMatchObject({
        details: { learning: idOf(other) },
      });
    });

    it('proposal.accept may merge the very text of a learning', () => {
      const project = new Project(...given);
      project.does('proposal.accept', { id, merge: true });
      expect(project.learnings()).toEqual([`${TEXT}!`]);
    });
  });
});

describe('proposal.reject', () => {
  it('proposal.reject turns a proposal down with the reason, and keeps it on record', () => {
    const project = new Project(proposed(TEXT));
    const reply = project.does('proposal.reject', { id, by: 'bob', reason: 'too\nvague' });
    expect(reply).toMatchObject({
      proposal: { status: 'rejected', decidedBy: 'bob', reason: 'too vague' },
      learning: null,
    });
    expect(project.does('proposal.list', { status: 'rejected' })).toMatchObject({ proposals: [{ id }] });
  });
});

describe('an id', () => {
  const project = new Project(
    proposed('a', { proposal: 'abc000000001' }),
    proposed('b', { proposal: 'abc000000002' }),
    proposed('c', { proposal: 'abd000000003' }),
  );
  const found = (given: string) => project.does('proposal.show', { id: given });

  it.each(['abd000000003', 'abd', 'ABD00', ' abd0 '])(
    'the id of a proposal is %j, or a prefix that fits only one',
    (given) => {
      expect(found(given)).toMatchObject({ proposal: { id: 'abd000000003' } });
    },
  );

  it.each(['ab', 'a', 'abcd', 'zzz', 'abd0000000031', '*', '__proto__'])(
    'the id of a proposal is not found when it fits none: %j',
    (given) => {
      expect(project.refuses('proposal.show', { id: given })).toMatchObject({
        code: 'not_found',
        message: expect.stringContaining('throughline learning ls --status all'),
      });
    },
  );
});
