import { messageOf } from '../contracts/errors.js';
import { readPlan } from '../files/local-tasks-file.js';
import { replaceFile } from '../files/text-file.js';
import { tickedPlan } from '../ledger/tasks-md/tick.js';

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
