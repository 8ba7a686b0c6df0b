import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import type { Scope, Where } from '../agents/connect/client-table.js';
import type { Cli } from './cli-context.js';

/** The place that connecting works on: this folder, or what belongs to the user. */
export function placeOf(cli: Cli, scope: Scope): Where {
  return { scope, project: process.cwd(), home: homedir(), env: cli.config.env, exists: existsSync };
}
