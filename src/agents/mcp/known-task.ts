import type { ThroughlineClient } from '../../client/throughline-client.js';
import { codeOf } from '../../contracts/errors.js';
import { nearIdsHint } from '../../shared/near-ids.js';

/** What is known of a task that is named alone. */
export interface KnownTask {
  /** What is to be done, as board or plan say it. */
  readonly text?: string;
  /** That neither has it, with the ids that may be meant; only where the session follows a plan. */
  readonly unknown?: string;
}

/** Looks for a task on the board, then in the plan. */
export async function knownTask(
  client: ThroughlineClient,
  session: string,
  task: string,
): Promise<KnownTask> {
  const { tasks: board } = await client.tools.taskList({ session });
  const own = board.find(({ id }) => id === task.toUpperCase());
  if (own !== undefined) return { text: own.content };
  try {
    const [planned] = (await client.tools.planShow({ session, id: task })).tasks;
    return planned === undefined ? {} : { text: planned.text };
  } catch (error) {
    if (codeOf(error) !== 'not_found') throw error;
  }
  const { tasks: plan } = await client.tools.planShow({ session });
  const hint = nearIdsHint(
    task,
    [...plan, ...board].map(({ id }) => id),
  );
  return {
    unknown: `Neither the plan nor the board has a task ${JSON.stringify(task)}${hint.endsWith('?') ? hint : `${hint}.`}`,
  };
}
