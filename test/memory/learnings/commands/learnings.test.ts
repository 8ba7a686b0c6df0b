import { describe, expect, it } from 'vitest';
import { timeOf } from '../../../support/builders.js';
import { accepted, idOf, Project, proposed } from '../../../support/learning-project.js';

const TEXT = 'Name the field';
const OTHER = 'Close the file';
const id = idOf(TEXT);
const inForce = [proposed(TEXT, { tags: ['api'] }), accepted(TEXT)];
const both = [...inForce, proposed(OTHER), accepted(OTHER)];
const rejected = { type: 'rejected', data: { proposal: id, by: 'bob' } } as const;
const retracted = { type: 'retracted', data: { learning: id, by: 'bob' } } as const;

describe('learning.list of what holds no more', () => {
  const reply = (project: Project, limit = 10) => project.does('learning.list', { retired: true, limit });

  it('learning.list gives superseded and retracted learnings as they were last, with the reason, the newest first', () => {
    const project = new Project(...both, proposed('Wait'), {
      type: 'edited',
      data: { learning: id, content: 'Name each field', by: 'eve' },
    });
    expect(reply(project)).toEqual({ project: 'demo', learnings: [], total: 0 });
    project.does('learning.supersede', { id, replacement: idOf(OTHER), by: 'bob' });
    project.does('learning.retract', { id: idOf(OTHER), by: 'ann', reason: 'We stream now' });
    expect(reply(project)).toMatchObject({
      learnings: [
        {
          id: idOf(OTHER),
          content: OTHER,
          retired: { how: 'retracted', by: 'ann', reason: 'We stream now' },
        },
        { id, content: 'Name each field', retired: { how: 'superseded', replacement: idOf(OTHER) } },
      ],
      total: 2,
    });
    expect(reply(project, 1)).toMatchObject({ learnings: [{ content: OTHER }], total: 2 });
    expect(project.does('learning.list', {})).toMatchObject({ learnings: [], total: 0 });
  });
});

describe('learning.edit', () => {
  it('learning.edit changes what is given of a learning, and nothing else', () => {
    const project = new Project(...inForce);
    expect(project.does('learning.edit', { id, content: ' Name\nit ', by: 'bob' })).toMatchObject({
      learning: { id, content: 'Name it', tags: ['api'], type: 'insight', confirmedAt: timeOf(120) },
      proposal: { content: TEXT, decidedBy: 'ann' },
    });
    expect(project.does('learning.edit', { id, type: 'pattern' })).toMatchObject({
      learning: { content: 'Name it', type: 'pattern', tags: ['api'] },
    });
    expect(project.does('learning.edit', { id, tags: [] })).toMatchObject({
      learning: { content: 'Name it', type: 'pattern', tags: [] },
    });
    expect(project.learnings()).toEqual(['Name it']);
  });

  it.each([
    ['turned down', [proposed(TEXT), rejected], 'rejected'],
    ['taken back', [...inForce, retracted], 'retracted'],
  ])('learning.edit refuses what was %s', (_what, given, state) => {
    expect(new Project(...given).refuses('learning.edit', { id, content: 'x' })).toMatchObject({
      code: 'not_found',
      message: `${id} is not an active learning: it is ${state}`,
    });
  });

  it.each([
    [{}, 'content: give content, type or tags'],
    [{ content: '\u200b' }, 'content: must contain visible text'],
  ])('learning.edit refuses %j', (more, message) => {
    expect(new Project(...inForce).refuses('learning.edit', { id, ...more })).toMatchObject({
      code: 'schema_invalid',
      message,
    });
  });

  it('learning.edit refuses the very text of another learning: the same text is never there twice', () => {
    const project = new Project(...both);
    expect(project.refuses('learning.edit', { id, content: `${OTHER}!` })).toMatchObject({
      code: 'near_duplicate',
      details: { id, learning: idOf(OTHER) },
    });
    expect(project.does('learning.edit', { id, content: 'name the FIELD!' })).toMatchObject({
      learning: { content: 'name the FIELD!' },
    });
  });
});

describe('learning.supersede', () => {
  it('learning.supersede lets another learning take its place, and says which', () => {
    const project = new Project(...both);
    const reply = project.does('learning.supersede', { id, replacement: idOf(OTHER), by: 'bob' });
    expect(reply).toMatchObject({
      proposal: { id, status: 'accepted' },
      learning: null,
      retired: { how: 'superseded', at: timeOf(300), by: 'bob', replacement: idOf(OTHER) },
    });
    expect(project.learnings()).toEqual([OTHER]);
  });

  it.each([
    ['itself', id, 'schema_invalid'],
    ['what waits', idOf('Wait'), 'not_found'],
    ['nothing', 'fffffffff', 'not_found'],
  ])('learning.supersede refuses %s as its replacement', (_what, replacement, code) => {
    const project = new Project(...both, proposed('Wait'));
    expect(project.refuses('learning.supersede', { id, replacement })).toMatchObject({ code });
    expect(project.learnings()).toHaveLength(2);
  });
});

describe('learning.retract', () => {
  it('learning.retract takes a learning back with the reason, once', () => {
    const project = new Project(...both);
    expect(project.does('learning.retract', { id, by: 'bob', reason: 'not\nso' })).toMatchObject({
      learning: null,
      retired: { how: 'retracted', by: 'bob', reason: 'not so' },
    });
    expect(project.learnings()).toEqual([OTHER]);
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
    for (const name of ['learning.retract', 'learning.edit'] as const) {
      expect(
        project.refuses(name, { id: 'abc', ...(name === 'learning.edit' && { tags: [] }) }),
      ).toMatchObject({
        code: 'ambiguous',
        details: { candidates: [text(1).proposal, text(2).proposal] },
      });
    }
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
