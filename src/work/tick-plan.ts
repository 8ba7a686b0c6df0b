import { messageOf } from '../contracts/errors.js';
import { readTextFile, replaceFile } from '../files/text-file.js';
import { tickedPlan } from '../ledger/tasks-md/tick.js';

/** Ticks the line of a task in a plan. Gives why it could not, where it could not. */
export async function tickPlan(path: string, task: string): Promise<string | undefined> {
  try {
    const text = readTextFile(path);
    if (text === undefined) return `${path} does not exist`;
    const ticked = tickedPlan(text, task);
    if ('fault' in ticked) return ticked.fault;
    if (ticked.text !== text) replaceFile(path, ticked.text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
