import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { cleanEnv } from './cli.js';

const SOMEONE = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];

/** Runs git in a folder as someone who has no settings, with an input; returns what it says. */
export function git(cwd: string, args: readonly string[], input = ''): string {
  const env = cleanEnv({ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' });
  return execFileSync('git', [...SOMEONE, ...args], { cwd, env, input, stdio: 'pipe', encoding: 'utf8' });
}

/** Makes a folder with what is in it a repository of one commit. */
export function gitRepository(path: string, branch = 'main'): void {
  mkdirSync(path, { recursive: true });
  git(path, ['init', '--quiet', '--initial-branch', branch]);
  git(path, ['add', '--all', '--force']);
  git(path, ['commit', '--quiet', '--message', 'begin']);
}
