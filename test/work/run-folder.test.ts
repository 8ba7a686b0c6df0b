import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectStateDir } from '../../src/engine/files/user-state.js';
import { identityOf } from '../../src/nats/server/process-identity.js';
import { CALL_MARK } from '../../src/work/process-group.js';
import { openRunFolder } from '../../src/work/run-folder.js';
import { folderOfFile } from '../support/of-file.js';

const root = await folderOfFile();
const stateDir = join(root, 'state');
const checkout = () => mkdtempSync(join(root, 'checkout-'));

function recordOf(folder: string): string {
  const state = projectStateDir(stateDir, folder);
  const [name = 'run.json'] = readdirSync(state).filter((each) => each.endsWith('.json'));
  return join(state, name);
}

describe('a checkout', () => {
  it('has one run at a time, also from a folder below it, and names the command for a second one', () => {
    const folder = checkout();
    mkdirSync(join(folder, '.git'));
    mkdirSync(join(folder, 'src'));
    const first = openRunFolder(stateDir, folder, 'demo');
    const other = `../${basename(folder)}-2`;
    expect(() => openRunFolder(stateDir, join(folder, 'src'), 'other')).toThrow(
      `${first.holder} works in ${folder}: run "git worktree add ${other}", and start the second run there, with --session other`,
    );
    openRunFolder(stateDir, checkout(), 'demo').release();
    first.release();
    const next = openRunFolder(stateDir, join(folder, 'src'), 'other');
    expect(next.ended).toBeUndefined();
    next.release();
  });

  it('is free after a killed run, whose leases the next run takes over', async () => {
    const folder = checkout();
    openRunFolder(stateDir, folder, 'demo');
    const ended = spawn('true');
    await once(ended, 'exit');
    const record = recordOf(folder);
    writeFileSync(record, JSON.stringify({ pid: ended.pid, started: 'before', holder: 'the one before' }));
    const next = openRunFolder(stateDir, folder, 'demo');
    expect(next.ended).toEqual(['the one before']);
    expect(JSON.parse(readFileSync(record, 'utf8'))).toMatchObject(identityOf(process.pid));
    next.release();
  });

  it.each(['', '{', '[]', '{"pid":"1","holder":"x"}'])('is free beside the invalid record %j', (text) => {
    const folder = checkout();
    openRunFolder(stateDir, folder, 'demo');
    writeFileSync(recordOf(folder), text);
    openRunFolder(stateDir, folder, 'demo').release();
  });

  it.runIf(process.platform === 'linux')('loses what a killed run has left, and nothing else', async () => {
    const folder = checkout();
    const { mark, release } = openRunFolder(stateDir, folder, 'demo');
    release();
    const marked = (value: string) =>
      spawn('sleep', ['600'], { detached: true, env: { ...process.env, [CALL_MARK]: value } });
    const [left, other] = [marked(mark), marked(`${mark}x`)];
    await Promise.all([once(left, 'spawn'), once(other, 'spawn')]);
    const gone = once(left, 'exit');
    openRunFolder(stateDir, folder, 'demo').release();
    expect((await gone)[1]).toBe('SIGKILL');
    expect(other.exitCode ?? other.signalCode).toBeNull();
    other.kill('SIGKILL');
  });
});
