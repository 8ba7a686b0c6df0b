import { expect, it } from 'vitest';
import { hookState } from '../../../src/agents/hooks/hook-state.js';
import { spoolOf } from '../../../src/agents/hooks/spool.js';
import { folderOfTest } from '../../support/of-file.js';

it('forgetting a text removes what holds it, the start of every session, and nothing else', async () => {
  const folder = await folderOfTest();
  const state = hookState(folder);
  const spool = spoolOf(folder, 'own:1');
  state.remember('told', 'The queue is called "MAGPIE"');
  state.remember('other', 'The port is 9464');
  state.note('turn', { request: 'Call it "MAGPIE"' });
  spool.keepStart('demo', 'Decided: MAGP…');
  state.forgetText('"MAGPIE"');
  expect([state.peek('told'), state.notes('turn'), spool.lastStart('demo')]).toEqual([
    undefined,
    [],
    undefined,
  ]);
  expect(state.peek('other')).toBe('The port is 9464');
});
