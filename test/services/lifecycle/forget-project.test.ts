import { expect, test } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { sessionFigures } from '../../../src/memory/session/run-status.js';
import { emptyState } from '../../../src/memory/session/session-state.js';
import { SessionTable } from '../../../src/services/common/session-table.js';
import { LifecycleKeeper } from '../../../src/services/keeper/serve-keeper.js';
import { createForgetTools, sessionsOf } from '../../../src/services/lifecycle/forget-tools.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { implementer, recorded, timeOf } from '../../support/builders.js';
import { keeperPorts } from '../../support/forget-ports.js';

const PARSER = token('parser', 'project');

/** Returns the state of a session with one result, with or without a project. */
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
            generation: '',
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

test('a session that is being imported stops no project from being forgotten', async () => {
  const ports = keeperPorts([], { ours: 'parser', elsewhere: 'lexer' });
  const { lifecycle, table } = ports;
  const imported = token('imported', 'session');
  await lifecycle.change(imported, () => ({
    at: timeOf(1),
    importing: { file: 'x', dispatches: 0, ready: true },
  }));
  table.moved(imported);

  expect(await sessionsOf(ports, PARSER)).toEqual(['ours']);
});

test('a project is forgotten with its sessions, and no other one', async () => {
  const ports = keeperPorts(['ours', 'other'], { ours: 'parser' });
  const tools = createForgetTools(ports);
  const ask = (dryRun = false) =>
    tools['project-forget']({ project: 'parser', ...(dryRun ? { dryRun } : { confirm: 'parser' }) });

  expect(await ask()).toMatchObject({ state: 'running', sessions: ['ours'], found: { dispatches: 1 } });
  expect(await ask(true)).toMatchObject({ state: 'running' });
  await new LifecycleKeeper(ports).tick();

  expect([...ports.eraser.dispatches.keys()]).toEqual(['other']);
  expect(ports.lifecycle.unfinished()).toEqual([]);
  ports.table.removed(token('ours', 'session'));
  // Its reply may have been lost.
  expect(await ask()).toMatchObject({ state: 'done', forgotten: true });
});

test('a dry run says that a session is being forgotten, counts the next session of the name, and begins nothing', async () => {
  const ports = keeperPorts(['ours'], {});
  const tools = createForgetTools(ports);
  const ours = token('ours', 'session');
  const look = () => tools['session-forget']({ session: 'ours', dryRun: true });
  const begun = { at: timeOf(1), dispatches: 1, sequence: 1 };

  await ports.lifecycle.forgetting(ours, begun);
  expect(await look()).toMatchObject({ state: 'running', found: { dispatches: 1 } });
  await ports.lifecycle.forgot(ours, timeOf(2));
  expect(await look()).toMatchObject({ state: 'counted', found: { dispatches: 1 } });

  expect([...ports.eraser.dispatches.keys()]).toEqual(['ours']);
  expect(ports.lifecycle.unfinished()).toEqual([]);
});
