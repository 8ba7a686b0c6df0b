import { spawn } from 'node:child_process';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'vitest';
import { cleanEnv } from './cli.js';
import { soon } from './system.js';

const BIN = fileURLToPath(new URL('../../dist/cli/bin.cjs', import.meta.url));

/** A command on a terminal of its own, made by `script` of util-linux; elsewhere that program takes other options. */
export const PTY_MISSING = process.platform === 'linux' ? undefined : 'script of util-linux is not there';

export interface OnTerminal extends AsyncDisposable {
  /** What stands on the screen so far, as plain text. */
  screen(): string;
  /** All that was written so far, as it came. */
  written(): string;
  /** Waits until the screen shows this, counted from what was waited for last. */
  shows(text: string | RegExp): Promise<void>;
  /** Types keys, as bytes. */
  type(keys: string): void;
  /** Sends a signal to the command itself. */
  signal(signal: NodeJS.Signals): void;
  /** Takes the terminal away, as closing its window does. */
  hangUp(): void;
  /** Whether the command is there still. */
  running(): boolean;
  /** Its exit code, when it has ended; and the settings of the terminal before and after. */
  ended(): Promise<{ readonly code: number | null; readonly before: string; readonly after: string }>;
}

/**
 * Runs `throughline <args>` on a terminal, of so many columns where that counts, as another user of the system where root runs
 * the tests. No argument may hold a quote.
 */
export async function onTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd = process.cwd(),
  columns?: number,
  user?: number,
): Promise<OnTerminal> {
  const folder = await mkdtemp(join(tmpdir(), 'throughline-pty-'));
  if (user !== undefined) await chown(folder, user, user);
  const [before, after] = [join(folder, 'before'), join(folder, 'after')];
  const command = `exec '${process.execPath}' '${BIN}' ${args.map((arg) => `'${arg}'`).join(' ')}`;
  const sized = columns === undefined ? '' : `stty cols ${columns}; `;
  const line = `${sized}stty -a > ${before}; sh -c "echo pid:\\$\\$; ${command}"; code=$?; stty -a > ${after}; exit $code`;
  const child = spawn('script', ['-qfec', line, '/dev/null'], {
    env: { ...cleanEnv(env), TERM: 'xterm', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd,
    ...(user !== undefined && { uid: user, gid: user }),
  });
  let text = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  child.stdin.on('error', () => {});
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  const pid = () => Number(/pid:(\d+)/.exec(screen())?.[1]);
  const screen = () => stripVTControlCharacters(text).replaceAll('\r', '');
  return {
    screen,
    written: () => text,
    shows: (wanted) =>
      soon(() => {
        const rest = screen().slice(seen);
        const at = typeof wanted === 'string' ? rest.indexOf(wanted) : rest.search(wanted);
        expect(at, `${wanted} in ${JSON.stringify(rest)}`).toBeGreaterThanOrEqual(0);
        const length = typeof wanted === 'string' ? wanted.length : (wanted.exec(rest)?.[0].length ?? 0);
        seen += at + length;
      }),
    type: (keys) => {
      child.stdin.write(keys);
    },
    signal: (signal) => {
      process.kill(pid(), signal);
    },
    hangUp: () => {
      child.kill('SIGKILL');
    },
    running: () => {
      try {
        return process.kill(pid(), 0);
      } catch {
        return false;
      }
    },
    async ended() {
      const code = await exited;
      return { code, before: await readFile(before, 'utf8'), after: await readFile(after, 'utf8') };
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
