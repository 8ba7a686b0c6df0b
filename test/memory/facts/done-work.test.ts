import { describe, expect, it } from 'vitest';
import type { RoleResult } from '../../../src/contracts/results.js';
import { InMemorySessionFactStore } from '../../../src/memory/facts/fact-store.js';
import { factsFrom, implementer, observer, reviewer } from '../../support/builders.js';

const left = (action: string, task = '1') =>
  implementer({ task_id: task, summary: 'Done', follow_up_actions: [action] });
const done = (summary: string, more: object = {}) => implementer({ task_id: '2', summary, ...more });

/** What is still to do after these results, in whatever order they arrive. */
function openAfter(...results: readonly RoleResult[]): string[] {
  const facts = results.map((result, at) => factsFrom(at + 1, result));
  const open = [facts, [...facts].reverse()].map((arrived) => {
    const store = InMemorySessionFactStore.of([]);
    for (const each of arrived) store.add(each);
    const ended = store.all().filter(({ relation, validTo }) => relation === 'requires' && validTo);
    expect(ended.every((fact) => fact.ended?.how === 'done')).toBe(true);
    return store.getValid().filter(({ relation }) => relation === 'requires');
  });
  expect(open[1]).toEqual(open[0]);
  return (open[0] ?? []).map(({ object }) => object);
}

describe('what a result leaves to do', () => {
  it.each([
    ['Compress the thumbnails of the gallery', 'Thumbnails of the gallery are compressed'],
    ['Retry webhooks after a timeout', 'Webhooks are retried after each timeout; three tests'],
    [
      'Vorschaubilder der Galerie komprimieren',
      'Galerie: Vorschaubilder komprimieren geht nun der Reihe nach',
    ],
    ['Comprimir las miniaturas de la galería', 'Ahora se pueden comprimir las miniaturas de la galería'],
    ['検索結果のページ分割', '検索結果のページ分割を実装した'],
    ["Don't block the prompts on the start of the server", 'Prompts do not block on the start of the server'],
    ['Update the changelog', 'Tests pass. Updated the changelog'],
    ['Document the retry limits in docs/webhooks.md', 'Retry limits are in docs/webhooks.md'],
  ])('"%s" ends by a later result: "%s"', (action, summary) => {
    expect(openAfter(left(action), done(summary))).toEqual([]);
  });

  it('an action ends by the files and the name of a task', () => {
    const files = { files_modified: ['src/gallery/thumbnails/compress.ts'] };
    expect(openAfter(left('Compress gallery thumbnails'), done('All done', files))).toEqual([]);
    const named = implementer({ task_id: 'compress-gallery-thumbnails', summary: 'All done' });
    expect(openAfter(left('Compress gallery thumbnails'), named)).toEqual([]);
  });

  it('a later result of the same task need not name everything', () => {
    const again = implementer({ task_id: '1', summary: 'Thumbnails are half the size in the gallery' });
    expect(openAfter(left('Compress gallery thumbnails'), again)).toEqual([]);
    expect(
      openAfter(left('Compress gallery thumbnails'), done('Thumbnails are half the size in the gallery')),
    ).toHaveLength(1);
  });

  it.each([
    ['another thing in the same place', done('The gallery shows thumbnails in a grid')],
    ['another number', done('Thumbnails of gallery 8 are compressed')],
    ['not yet', done('The thumbnails of gallery 7 are not compressed yet')],
    ['a plan', done('We should compress the thumbnails of gallery 7')],
    [
      'still open there',
      done('Thumbnails of gallery 7 load late', { follow_up_actions: ['Compress thumbnails of gallery 7'] }),
    ],
    ['a result that failed', done('Compressed the thumbnails of gallery 7', { status: 'failed' })],
    ['a review', reviewer({ task_id: '2', summary: 'The thumbnails of gallery 7 are compressed' })],
    [
      'a conversation that changed nothing',
      observer({ task_id: 'claude-0a1b2c', summary: 'How to compress the thumbnails of gallery 7' }),
    ],
    ['noch nicht', done('Thumbnails of gallery 7: noch nicht compressed')],
  ])('an action stays with %s', (_, result) => {
    expect(openAfter(left('Compress the thumbnails of gallery 7'), result)).toContain(
      'Compress the thumbnails of gallery 7',
    );
  });

  it.each([
    ['Port timeout.test.js from tap to node:test', 'Ported reply.test.js from tap to node:test'],
    ["Don't block the prompts on the start", "The prompts still don't block on the start"],
    ['Deploy', 'Deployed the docs'],
  ])('"%s" stays with "%s"', (action, summary) => {
    expect(openAfter(left(action), done(summary))).toEqual([action]);
  });

  it('an earlier result ends nothing that is left to do later', () => {
    expect(
      openAfter(
        done('Thumbnails of the gallery are compressed'),
        left('Compress the thumbnails of the gallery'),
      ),
    ).toHaveLength(1);
  });
});
