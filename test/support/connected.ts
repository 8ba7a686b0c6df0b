import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { stateDirOf } from '../../src/config/config.js';
import { type ProjectSettings, recordConnected } from '../../src/config/connected-projects.js';
import { cleanEnv } from './cli.js';

/** Writes the `.throughline.json` of a folder, and records it as connected for the commands that tests run. */
export function connectFolder(
  folder: string,
  file: Partial<ProjectSettings>,
  env: Readonly<Record<string, string | undefined>> = cleanEnv(),
): void {
  writeFileSync(join(folder, '.throughline.json'), JSON.stringify(file));
  const { session = basename(folder), project = basename(folder) } = file;
  recordConnected(stateDirOf(env), folder, { ...file, session, project });
}
