import { expect, test } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import {
  NOTHING_DONE,
  type RetentionRules,
  type RetentionRun,
} from '../../../src/contracts/retention-record.js';
import { followRules, type RetentionPorts } from '../../../src/services/lifecycle/follow-retention.js';
import { Turn } from '../../../src/services/lifecycle/retention-turn.js';
import { ALL_TERMS } from '../../../src/session/retention-rules.js';
import { forgetPorts, NOW } from '../../support/forget-ports.js';

const never = () => Promise.reject(new Error('not asked for here'));

/** Has the rules followed once, in memory. Gives the run and what was settled as archived. */
async function followed(
  ports: ReturnType<typeof forgetPorts>,
  rules: RetentionRules['rules'],
  inHand: NonNullable<RetentionRun['inHand']> = [],
) {
  let run: RetentionRun | undefined = {
    v: 1,
    id: 'gone',
    startedAt: NOW,
    beatAt: NOW,
    endedAt: NOW,
    ...NOTHING_DONE,
    inHand,
  };
  const settled: string[] = [];
  const all: RetentionPorts = {
    ...ports,
    caughtUp: async () => {},
    aged: { look: never },
    reader: ports.sessions,
    log: { append: never },
    archiver: {
      ...{ requireRoom: never, archive: never, unarchive: never },
      settle: async (session) => void settled.push(session),
    } as Partial<RetentionPorts['archiver']> as RetentionPorts['archiver'],
    store: {
      rules: async () => ({ v: 1, version: 1, rules }),
      changeRules: never,
      run: async () => run,
      changeRun: async (next) => {
        run = next(run);
        return run;
      },
    },
    newId: () => 'one',
    now: () => Date.parse(NOW),
  };
  const turn = await Turn.take(all, () => true);
  if (!(turn instanceof Turn)) throw new Error('no turn');
  await followRules(all, { v: 1, version: 1, rules }, ALL_TERMS, turn, () => false);
  await turn.end();
  return { run: turn.run, settled };
}

test('a rule forgets a session that is due, and spares one that has moved meanwhile', async () => {
  const ports = forgetPorts(['ours', 'moved'], { ours: 'parser', moved: 'parser' });
  const { lastMoved } = ports.eraser;
  let asked = 0;
  ports.eraser.lastMoved = async (...[session]: unknown[]) => {
    const last = await lastMoved();
    if (session !== 'moved') return last;
    asked += 1;
    return asked === 1 ? last : { sequence: 2, at: NOW };
  };

  const { run } = await followed(ports, [{ enforced: true, at: NOW, forgetAfter: '30d' }]);

  expect(run).toMatchObject({ forgotten: 1, spared: 1 });
  expect([...ports.eraser.dispatches.keys()]).toEqual(['moved']);
  expect(ports.lifecycle.unfinished()).toEqual([]);
});

test('a session that was in hand, and is being imported since, stops nothing', async () => {
  const ports = forgetPorts([], { kept: 'parser' });
  const session = token('imported', 'session');
  const importing = { file: 'x', dispatches: 0, ready: true };
  await ports.lifecycle.change(session, () => ({ at: NOW, importing }));
  const inHand = [{ session, idleSince: NOW }];

  const { run, settled } = await followed(ports, [], inHand);

  expect(settled).toEqual([]);
  expect(run.inHand).toBeUndefined();
  expect(run.endedAt).toBe(NOW);
});
