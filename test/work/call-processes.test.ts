import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { CALL_MARK, isCallRunning, runGroup, signalCall } from '../../src/work/process-group.js';

describe.runIf(process.platform === 'linux')('the mark of a call', () => {
  const PATH = process.env.PATH ?? '';

  it('stands beside that of the call that it runs in, whose run finds its processes as well', async () => {
    const { signal } = new AbortController();
    const env = { PATH, [CALL_MARK]: 'outer' };
    const { stdout } = await runGroup({ command: `echo $${CALL_MARK}`, directory: '/', env, signal });
    expect(stdout).toMatch(/^outer:[\w-]{22}\n$/);
    const child = spawn('sleep', ['600'], { detached: true, env: { PATH, [CALL_MARK]: stdout.trim() } });
    const ended = once(child, 'exit');
    await once(child, 'spawn');
    expect(isCallRunning(-1, 'oute')).toBe(false);
    expect(isCallRunning(-1, 'outer')).toBe(true);
    signalCall(-1, 'outer', 'SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
  });
});
