import { describe, expect, it } from 'vitest';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { emptyState, type SessionState } from '../../../src/memory/session/session-state.js';
import { createRecall } from '../../../src/services/tools/session-list.js';
import { implementer, recorded, stored } from '../../support/builders.js';

const QUERY = { query: 'parse cookies', limit: 10, maxTokens: 1000 };

/** Sessions by name: the summaries of their results, with the day of each. */
function recallIn(sessions: Readonly<Record<string, readonly (readonly [summary: string, at?: string])[]>>) {
  const states = Object.entries(sessions).map(([name, work]): [string, SessionState] => {
    const events = work.map(([summary, at], index) =>
      recorded(index + 1, implementer({ task_id: `${index}`, summary, ...(at && { at }) })),
    );
    return [name, stored(events).reduce(evolve, emptyState(name))];
  });
  const byName = new Map(states);
  const load = async (name: string) => ({ folded: { state: byName.get(name) ?? emptyState(name) } }) as never;
  const list = async () => ({
    sessions: states.map(([session]) => ({ session, sequence: 1, at: '', brief: true as const })),
    total: states.length,
  });
  return createRecall({ load }, { list }, async () => undefined);
}

describe('recall', () => {
  const work = [['Parse cookies without a value'], ['Print'], ['Cookies of a response are kept']] as const;

  it('recall gives the lines of a prompt, the best first, and says which words speak for each', async () => {
    const { items, text } = await recallIn({ demo: work })({ session: 'demo', ...QUERY });
    expect(items.map(({ id: _, score: __, at: ___, ...item }) => item)).toMatchObject([
      {
        session: 'demo',
        task: '0',
        result: 1,
        text: 'Parse cookies without a value',
        why: 'words: pars cooki',
      },
      { session: 'demo', task: '2', result: 3, text: 'Cookies of a response are kept', why: 'words: cooki' },
    ]);
    expect(text.split('\n').slice(1)).toEqual([
      '- Parse cookies without a value [task:0, 1 Jan]',
      '- Cookies of a response are kept [task:2, 1 Jan]',
    ]);
  });

  it('recall finds a number that is the whole query, and not by a number alone among words', async () => {
    const recall = recallIn({ demo: [['The metrics port is 9464'], ['Print']] });
    const found = async (query: string) => (await recall({ session: 'demo', ...QUERY, query })).items.length;
    expect(await found('9464')).toBe(1);
    expect(await found('cookies of 9464')).toBe(0);
  });

  it('the text of recall ends within its tokens, and an item more or less changes no other', async () => {
    const many = Array.from({ length: 40 }, (_, at) => [`Parse cookies in way ${at}`] as const);
    const recall = recallIn({ demo: many });
    for (const maxTokens of [20, 100, 300]) {
      const { text } = await recall({ session: 'demo', ...QUERY, maxTokens });
      expect(text.length).toBeLessThanOrEqual(4 * maxTokens);
      expect((await recall({ session: 'demo', ...QUERY })).text.startsWith(text)).toBe(true);
    }
  });

  it('recall finds a result by the month in which it happened', async () => {
    const dated = [
      ['Tune the cache', '2025-03-03T10:00:00Z'],
      ['Tune the index', '2025-04-03T10:00:00Z'],
    ] as const;
    const { items } = await recallIn({ demo: dated })({ session: 'demo', ...QUERY, query: 'tune in March' });
    expect(items[0]?.text).toBe('Tune the cache');
  });

  it('without a session all of a project are searched, and each line names its own', async () => {
    const recall = recallIn({ one: [['Parse cookies']], two: [['Cookies are parsed lazily']] });
    const { text, searched, sessions } = await recall({ project: 'shop', ...QUERY });
    expect(text).toMatch(/\[one, task:0, 1 Jan\]\n.*\[two, task:0, 1 Jan\]$/);
    expect([searched, sessions]).toEqual([2, 2]);
  });

  it('recall of a session refuses a project, so that nobody reads others through one', async () => {
    const recall = recallIn({ demo: work });
    await expect(recall({ session: 'demo', project: 'shop', ...QUERY })).rejects.toMatchObject({
      code: 'schema_invalid',
      details: { fields: ['project'] },
    });
    await expect(recall({ session: 'other', ...QUERY })).rejects.toMatchObject({ code: 'not_found' });
  });
});
