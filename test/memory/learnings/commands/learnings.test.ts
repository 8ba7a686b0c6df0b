import { describe, expect, it } from 'vitest';
import { timeOf } from '../../../support/builders.js';
import { accepted, idOf, Project, proposed } from '../../../support/learning-project.js';

const TEXT = 'Name the field';
const OTHER = 'Close the file';
const id = idOf(TEXT);
const inForce = [proposed(TEXT, { tags: ['api'] }), accepted(TEXT)];
const both = [...inForce, proposed(OTHER), accepted(OTHER)];
const rejected = { type: 'rejected', data: { proposal: id, by: 'bob' } } as const;

describe('learning.propose', () => {
  it('learning.propose by a person opens what was turned down again, with its evidence', () => {
    const evidence = [{ session: 's1', dispatch: 3, task: '1' }];
    const project = new Project(proposed(TEXT, { evidence, confidence: 0.9 }), rejected);
    expect(project.does('learning.propose', { content: TEXT })).toMatchObject({
      proposal: { id, status: 'pending', evidence, confidence: 0.9 },
    });
  });
});

describe('learning.retract', () => {
  it('learning.retract takes a learning back with the reason, once', () => {
    const project = new Project(...both);
    expect(project.does('learning.retract', { id, by: 'bob', reason: 'not\nso' })).toMatchObject({
      learning: null,
      proposal: { id, status: 'retracted', decidedBy: 'bob', decidedAt: timeOf(300), reason: 'not so' },
    });
    expect(project.learnings()).toEqual([OTHER]);
    expect(project.does('proposal.list', { status: 'retracted' })).toMatchObject({ proposals: [{ id }] });
    expect(project.refuses('learning.retract', { id })).toMatchObject({
      code: 'not_found',
      message: `${id} is not an active learning: it is retracted`,
      details: { id, state: 'retracted' },
    });
  });

  it('learning.retract refuses what waits, and what was merged, by saying so', () => {
    expect(new Project(proposed(TEXT)).refuses('learning.retract', { id })).toMatchObject({
      message: `${id} is not an active learning: it is pending`,
    });
    const merged = { type: 'accepted', data: { proposal: idOf('Name'), by: 'x', merged_into: id } } as const;
    const project = new Project(...inForce, proposed('Name'), merged);
    expect(project.refuses('learning.retract', { id: idOf('Name') })).toMatchObject({
      message: `${idOf('Name')} is not an active learning: it is merged into ${id}`,
    });
  });
});

describe('the id of a learning', () => {
  const text = (n: number) => ({ proposal: `abc00000000${n}`, content: `Say ${'x'.repeat(n)}` });
  const take = (n: number) => ({ type: 'accepted', data: { proposal: text(n).proposal, by: 'x' } }) as const;

  it('the id of a learning is looked for among those in force first', () => {
    const project = new Project(proposed('', text(1)), proposed('', text(2)), take(2));
    expect(project.does('learning.retract', { id: 'abc' })).toMatchObject({
      proposal: { id: text(2).proposal },
    });
  });

  it('the id of a learning is refused when it fits several', () => {
    const project = new Project(proposed('', text(1)), proposed('', text(2)), take(1), take(2));
    expect(project.refuses('learning.retract', { id: 'abc' })).toMatchObject({
      code: 'ambiguous',
      details: { candidates: [text(1).proposal, text(2).proposal] },
    });
  });

  it.each([
    ['ab', 'give at least 3 characters, or '],
    ['fff', ''],
  ])('the id of a learning is not found when it fits none: %j', (given, short) => {
    expect(new Project(proposed('', text(1))).refuses('learning.retract', { id: given })).toMatchObject({
      code: 'not_found',
      message: `no learning "${given}" in project demo: ${short}see "throughline learning ls --project demo"`,
    });
  });
});
