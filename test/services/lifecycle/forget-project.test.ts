import { expect, test } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { SessionTable } from '../../../src/services/common/session-table.js';
import { begin } from '../../../src/services/lifecycle/forget-claim.js';
import {
  forgetProject,
  resumeForgets,
  sessionsOf,
  storedOfProject,
} from '../../../src/services/lifecycle/forget-project.js';
import { evolve } from '../../../src/session/evolve-session.js';
import { sessionFigures } from '../../../src/session/session-figures.js';
import { emptyState } from '../../../src/session/session-state.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { implementer, recorded, timeOf } from '../../support/builders.js';
import { forgetPorts, pointers, renaming } from '../../support/forget-ports.js';

const PARSER = token('parser', 'project');

/** The state of a session with one result, opened for a project or for none. */
function stateOf(session: string, project?: string) {
  const state = emptyState(session);
  evolve(state, { sequence: 1, event: recorded(1, implementer()) });
  if (project === undefined) return state;
  const event = { v: 1, type: 'session.opened', at: timeOf(2), data: { project } } as const;
  evolve(state, { sequence: 2, event });
  return state;
}

test('of a project those sessions are read that the index does not surely place elsewhere, and the log decides', async () => {
  const states = new Map(
    [
      stateOf('ours', 'parser'),
      stateOf('elsewhere', 'lexer'),
      stateOf('unnamed'),
      stateOf('moved', 'parser'),
      stateOf('misplaced', 'lexer'),
    ].map((state) => [state.session, state]),
  );
  let now = 10_000;
  const table = new SessionTable(() => now);
  const indexed = {
    ours: 'parser',
    elsewhere: 'lexer',
    unnamed: undefined,
    moved: undefined,
    misplaced: 'parser',
  };
  for (const [session, project] of Object.entries(indexed))
    table.folded(token(session, 'session'), 2, sessionFigures(stateOf(session, project)), now);
  now += 10_000;
  const loaded: string[] = [];
  const found = await sessionsOf(
    {
      table,
      compared: async () => table.moved(token('moved', 'session')),
      lifecycle: new MemorySessionLifecycle(),
      sessions: {
        load: async (session) => {
          loaded.push(session);
          const state = states.get(session) ?? emptyState(session);
          const folded = {
            key: session,
            state,
            snapshotSequence: 0,
            sinceSnapshot: 0,
            epoch: undefined,
            life: '',
          };
          return { folded, replayed: 0, isWhole: true };
        },
      },
    },
    PARSER,
  );

  expect(found.sort()).toEqual(['moved', 'ours']);
  expect(loaded.sort()).toEqual(['misplaced', 'moved', 'ours']);
});

const [OURS, MINE] = [token('ours', 'session'), token('mine', 'session')];

test('with a session of a project go the names that it had before, and they are counted', async () => {
  const ports = forgetPorts(['first', 'second', 'ours', 'other'], { ours: 'parser' });
  await pointers(ports.lifecycle, { first: 'second', second: 'ours' });
  const named = await sessionsOf(ports, PARSER);
  expect(named).toEqual(['ours']);
  expect(await storedOfProject(ports, PARSER, named)).toMatchObject({ dispatches: 3 });

  const erased = await forgetProject(ports, PARSER, named, 'one', () => {});

  expect(erased).toMatchObject({ dispatches: 3 });
  expect([...ports.eraser.dispatches.keys()]).toEqual(['other']);
  expect(ports.lifecycle.renamed()).toEqual([]);
  expect(ports.lifecycle.unfinished()).toEqual([]);
});

test('the names that a session had before go also where another process has begun to forget it', async () => {
  const ports = forgetPorts(['first', 'ours'], { ours: 'parser' });
  await pointers(ports.lifecycle, { first: 'ours' });
  await begin(ports, OURS, { by: 'gone', project: PARSER });

  await resumeForgets({ ...ports, clock: () => '2026-01-01T01:00:00.000Z' }, 'next');

  expect(ports.eraser.dispatches).toEqual(new Map());
  expect(ports.lifecycle.renamed()).toEqual([]);
  expect(ports.lifecycle.unfinished()).toEqual([]);
});

test('a session of another project that is being renamed, or imported, and a pointer stop no project from being forgotten', async () => {
  const ports = forgetPorts([], { ours: 'parser', elsewhere: 'lexer', first: 'parser' });
  const { lifecycle, table } = ports;
  const [to, imported] = [token('to', 'session'), token('imported', 'session')];
  await renaming(lifecycle, token('elsewhere', 'session'), to);
  await lifecycle.change(imported, () => ({
    at: timeOf(1),
    importing: { file: 'x', dispatches: 0, ready: true },
  }));
  await pointers(lifecycle, { first: 'ours' });
  for (const session of [to, imported]) table.moved(session);

  expect(await sessionsOf(ports, PARSER)).toEqual(['ours']);
});

test('a project is refused while a session of it is being renamed, with both names, and nothing of it is forgotten', async () => {
  const ports = forgetPorts(['ours', 'mine'], { ours: 'parser', mine: 'parser' });
  const { lifecycle } = ports;
  const named = await sessionsOf(ports, PARSER);
  await renaming(lifecycle, MINE, token('to', 'session'));
  const refused = {
    code: 'conflict',
    message: expect.stringContaining('session mine is being renamed to to'),
  };

  await expect(sessionsOf(ports, PARSER)).rejects.toMatchObject(refused);
  await expect(forgetProject(ports, PARSER, named, 'one', () => {})).rejects.toMatchObject(refused);

  expect(lifecycle.unfinished()).toEqual([]);
  expect(ports.eraser.dispatches.size).toBe(2);
});

test('a project is refused while the old name of a session of it is not yet a pointer', async () => {
  const ports = forgetPorts(['first', 'ours', 'mine'], { ours: 'parser', mine: 'parser' });
  const { lifecycle } = ports;
  await renaming(lifecycle, token('first', 'session'), MINE);
  await lifecycle.change(MINE, () => 'remove');

  await expect(forgetProject(ports, PARSER, [OURS, MINE], 'one', () => {})).rejects.toMatchObject({
    code: 'conflict',
  });

  expect(lifecycle.unfinished()).toEqual([]);
});
