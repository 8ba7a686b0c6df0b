import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { runCommand } from './server-child.js';
import type { Environment } from './server-search.js';
import { parseServerVersion } from './server-version.js';

type BinaryProbe = { readonly version: string } | { readonly reason: string };

export async function probeBinary(path: string, env: Environment): Promise<BinaryProbe> {
  const result = await runCommand(path, ['--version'], { env, timeoutMs: 10_000 });
  if (!result.ok) return { reason: result.reason };
  const version = parseServerVersion(result.stdout);
  if (version === undefined) return { reason: 'its --version names no version' };
  return { version };
}

export function executableName(name: string, platform: NodeJS.Platform): string {
  return platform === 'win32' ? `${name}.exe` : name;
}

/** Returns every executable of that name in the absolute folders of `PATH`, in order. */
export async function executablesOnPath(name: string, env: Environment): Promise<readonly string[]> {
  // Windows preserves the variable's own spelling.
  const folders = new Set(
    (env.PATH ?? env.Path ?? '').split(delimiter).filter((folder) => isAbsolute(folder)),
  );
  const found: string[] = [];
  for (const folder of folders) {
    const path = join(folder, name);
    if (await isExecutableFile(path)) found.push(path);
  }
  return found;
}

async function isExecutableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
