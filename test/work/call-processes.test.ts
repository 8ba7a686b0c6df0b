import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { CALL_MARK, isCallRunning, runGroup, signalCall } from '../../src/work/process-group.js';

describe.runIf(process.platform === 'linux')('the mark of a call', () => {
  const PATH = process.env.PATH ?? '';

  it('stands beside that of the call that it runs in, whose run finds its processes as well', async () => {
    const { signal } = new AbortController();
    const env = { PATH, [CALL_MARK]: 'outer' };
    const command = `echo $${CALL_MARK}`;
    const { stdout } = await runGroup({ command, directory: '/', env, mark: 'inner', signal });
    expect(stdout).toBe('outer:inner\n');
    const child = spawn('sleep', ['600'], { detached: true, env: { PATH, [CALL_MARK]: stdout.trim() } });
    const ended = once(child, 'exit');
    await once(child, 'spawn');
    expect(isCallRunning(-1, 'oute')).toBe(false);
    expect(isCallRunning(-1, 'outer')).toBe(true);
    signalCall(undefined, 'outer', 'SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
  });
});
