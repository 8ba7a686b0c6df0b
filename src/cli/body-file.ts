import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { messageOf, ThroughlineError } from '../contracts/errors.js';

/** The bytes of a file that an option names; `-` is standard input. */
export async function readBody(file: string): Promise<Buffer> {
  if (file === '-') return buffer(process.stdin);
  try {
    return await readFile(file);
  } catch (cause) {
    throw new ThroughlineError('usage', `--file ${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
