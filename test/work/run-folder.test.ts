import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { identityOf, isRunning } from '../../src/nats/server/process-identity.js';
import { CALL_MARK } from '../../src/work/process-group.js';
import { openRunFolder, processSpace, runIn } from '../../src/work/run-folder.js';

const root = mkdtempSync(join(tmpdir(), 'throughline-runs-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const fresh = () => mkdtempSync(join(root, 'run-'));
const MARK = 'abcdefghijklmnopqrstuv';

describe('the record of a run', () => {
  it.each([1, 0, -1, -4711, 1.5, '4711', null, Number.MAX_VALUE])(
    'names no process %j, for the run or for its calls',
    (pid) => {
      expect(runIn({ pid, started: 'x', holder: 'a', calls: {} })).toBeUndefined();
      const good = { mark: MARK, leader: { pid: 4711, started: 'x' } };
      const calls = { a: { mark: MARK, leader: { pid, started: 'x' } }, b: good };
      expect(runIn({ pid: 4711, holder: 'a', calls })?.calls).toEqual([{ mark: MARK }, good]);
    },
  );

  it.each(['', 'PATH=/usr/bin', 'short', undefined])('names no call with the mark %j', (mark) => {
    expect(runIn({ pid: 4711, holder: 'a', calls: { a: { mark, leader: { pid: 4712 } } } })?.calls).toEqual(
      [],
    );
  });

  it('that another process has left ends only the process that started when the record says', async () => {
    const state = fresh();
    openRunFolder(state).release();
    const children = [0, 1].map(() => spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }));
    const [recorded, other] = children.map(({ pid = 0 }) => identityOf(pid));
    const ended = spawn('true');
    await once(ended, 'exit');
    const calls = {
      a: { mark: MARK, leader: recorded },
      b: { mark: MARK, leader: { ...other, started: 'at another time' } },
    };
    const space = processSpace();
    const left = { pid: ended.pid, started: 'before', space, holder: 'the one before', calls };
    // On another machine, or in a container of this one, the same numbers are other processes.
    for (const elsewhere of [undefined, 'other pid:[1]', space.replace(/.*? /, 'other ')]) {
      const theirs = {
        ...left,
        space: elsewhere,
        calls: { a: { mark: MARK, leader: identityOf(children[1]?.pid ?? 0) } },
      };
      writeFileSync(join(state, 'runs', 'left.json'), JSON.stringify(theirs));
      const beside = openRunFolder(state);
      expect(beside.ended).toEqual([]);
      beside.release();
      expect(readdirSync(join(state, 'runs'))).toEqual(['left.json']);
    }
    writeFileSync(join(state, 'runs', 'left.json'), JSON.stringify(left));
    const folder = openRunFolder(state);
    await once(children[0] ?? ended, 'exit');
    expect(isRunning(other ?? { pid: 0 })).toBe(true);
    expect(folder.ended).toEqual(['the one before']);
    folder.release();
    expect(readdirSync(join(state, 'runs'))).toEqual([]);
    children[1]?.kill('SIGKILL');
  });

  it.runIf(process.platform === 'linux')(
    'names a call before its first process is there, which a next run ends',
    async () => {
      const state = fresh();
      const killed = openRunFolder(state);
      killed.running('1-1-implementer', MARK);
      const [file = ''] = readdirSync(join(state, 'runs'));
      const path = join(state, 'runs', file);
      const { calls } = JSON.parse(readFileSync(path, 'utf8'));
      const ended = spawn('true');
      await once(ended, 'exit');
      writeFileSync(path, JSON.stringify({ pid: ended.pid, space: processSpace(), holder: 'killed', calls }));
      const left = spawn('sleep', ['600'], { detached: true, env: { ...process.env, [CALL_MARK]: MARK } });
      await once(left, 'spawn');
      const next = openRunFolder(state);
      expect((await once(left, 'exit'))[1]).toBe('SIGKILL');
      next.release();
    },
  );

  it('of a run that still runs is left alone by another one in the same folder', () => {
    const state = fresh();
    const first = openRunFolder(state);
    const second = openRunFolder(state);
    expect(second.ended).toEqual([]);
    expect(second.holder).not.toBe(first.holder);
    second.release();
    expect(readdirSync(join(state, 'runs'))).toHaveLength(1);
    first.release();
  });
});

describe('an answer', () => {
  const answer = { text: 'done', tokens: 5 };
  /** Keeps the answer by a run that ends. */
  async function keptIn(state: string) {
    const run = openRunFolder(state);
    await run.keep('T1-1-implementer', answer);
    run.release();
  }

  it('is read by a later run, until it is dropped', async () => {
    const state = fresh();
    await keptIn(state);
    const later = openRunFolder(state);
    expect(await later.read('T1-1-implementer')).toEqual(answer);
    await later.drop?.('T1-1-implementer');
    expect(await later.read('T1-1-implementer')).toBeUndefined();
    later.release();
    expect(await openRunFolder(state).read('T1-1-implementer')).toBeUndefined();
  });

  it('a call that began in an earlier run and has no answer was interrupted, until its result is published', async () => {
    const state = fresh();
    const name = 'T1-1-implementer';
    const begin = async () => {
      const run = openRunFolder(state);
      const wasBegun = await run.begin?.(name);
      run.release();
      return wasBegun;
    };
    expect([await begin(), await begin()]).toEqual([false, true]);
    await keptIn(state);
    expect(await begin()).toBe(false);
    const run = openRunFolder(state);
    await run.drop?.(name);
    run.release();
    expect(await begin()).toBe(false);
  });

  it('counts only if it was there before the run, or the run itself has kept it', async () => {
    const state = fresh();
    const folder = openRunFolder(state);
    await keptIn(state);
    expect(await folder.read('T1-1-implementer')).toBeUndefined();
    await folder.keep('T1-1-implementer', { text: 'own' });
    expect(await folder.read('T1-1-implementer')).toEqual({ text: 'own' });
    writeFileSync(join(state, 'answers', 'T9-2-reviewer.json'), JSON.stringify(answer));
    writeFileSync(join(state, 'answers', 'T1-1-implementer.json'), JSON.stringify(answer));
    // Nor for a run that begins while the agents of another one can write.
    const beside = openRunFolder(state);
    expect(await beside.read('T1-1-implementer')).toBeUndefined();
    beside.release();
    folder.release();
    const later = openRunFolder(state);
    expect(await later.read('T9-2-reviewer')).toBeUndefined();
    expect(await later.read('T1-1-implementer')).toEqual({ text: 'own' });
  });

  it('does not count if it is not one, or under the name of another call', async () => {
    const state = fresh();
    await keptIn(state);
    for (const written of ['', '{"text":5}', '[]']) {
      writeFileSync(join(state, 'answers', 'T1-2-reviewer.json'), written);
      const folder = openRunFolder(state);
      expect(await folder.read('T1-2-reviewer')).toBeUndefined();
      expect(await folder.read('T1-1-implementer')).toEqual(answer);
      folder.release();
    }
    expect(await openRunFolder(fresh()).read('T1-1-implementer')).toBeUndefined();
  });
});
