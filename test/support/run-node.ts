import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { cleanEnv } from './cli.js';

/** Runs a module, given as text, in a process of its own to its end. */
export async function runNode(
  module: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; stdout: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', module], {
    env: cleanEnv(env),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return { code, stdout };
}
