import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import type { Role } from '../contracts/kinds.js';
import { publishItOn } from '../contracts/reading/misplaced-result.js';

/** Why a result cannot be used, and what to do about it. */
interface Refusal {
  readonly reason: string;
  readonly fix?: string | undefined;
  readonly meant?: Role | undefined;
}

/** The same refusal with the command to type in place of the subject to publish on. */
export function asCommand<Known extends Refusal>(known: Known, command: (role: Role) => string): Known {
  const { reason, fix, meant } = known;
  if (meant === undefined) return known;
  const typed = (text: string) =>
    text.replaceAll(publishItOn(meant), () => `publish it with "${command(meant)}"`);
  return { ...known, reason: typed(reason), ...(fix !== undefined && { fix: typed(fix) }) };
}

/** The bytes of a file that an option names; `-` is standard input. */
export async function readBody(file: string): Promise<Buffer> {
  if (file === '-') return buffer(process.stdin);
  try {
    return await readFile(file);
  } catch (cause) {
    throw new ThroughlineError('usage', `--file ${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
