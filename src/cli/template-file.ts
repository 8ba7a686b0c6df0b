import { readFile } from 'node:fs/promises';
import { messageOf, ThroughlineError } from '../contracts/errors.js';

/** The text of a template file. */
export async function readTemplate(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new ThroughlineError('usage', `template ${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
