import { messageOf } from '../contracts/errors.js';
import { replaceFile } from '../files/text-file.js';
import { readRegularFile, type UnreadableFile } from '../files/user-state.js';
import { tickedPlan } from '../ledger/tasks-md/tick.js';

const MAX_BYTES = 1024 * 1024;
/** Refuses bytes that are not UTF-8: written again they would be others. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads a plan, which may stand in a repository of strangers: a regular file of at most 1 MB, and no link. */
export function readPlan(path: string): string | UnreadableFile {
  const bytes = readRegularFile(path, MAX_BYTES);
  if (bytes === undefined) return { fault: 'does not exist' };
  if (!Buffer.isBuffer(bytes)) return bytes;
  try {
    return UTF8.decode(bytes);
  } catch {
    return { fault: 'is not UTF-8 text' };
  }
}

/** Ticks the line of a task in a plan. Gives why it could not, where it could not. */
export async function tickPlan(path: string, task: string): Promise<string | undefined> {
  try {
    const text = readPlan(path);
    if (typeof text !== 'string') return `${path} ${text.fault}`;
    const ticked = tickedPlan(text, task);
    if ('fault' in ticked) return ticked.fault;
    if (ticked.text !== text) replaceFile(path, ticked.text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
