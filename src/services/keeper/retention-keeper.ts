import { codeOf } from '../../contracts/errors.js';
import type { RetentionRules, RetentionRun } from '../../contracts/retention-record.js';
import { OneAtATime } from '../../runtime/one-at-a-time.js';
import { ENFORCED_TERMS } from '../../session/retention-rules.js';
import { followRules, type RetentionPorts } from '../lifecycle/follow-retention.js';
import { Turn } from '../lifecycle/retention-turn.js';

/**
 * Follows the rules of retention that are enforced, once an hour and soon after they were changed. Any number of keepers may
 * run: one of them does it.
 */
const EVERY_MS = 3_600_000;
/** After a failure. */
const AGAIN_MS = 600_000;

export class RetentionKeeper {
  readonly #ports: RetentionPorts;
  readonly #rounds = new OneAtATime(() =>
    this.#work().catch((error: unknown) => {
      if (this.#rounds.isStopping) return;
      const { logger } = this.#ports;
      logger.warn({ code: codeOf(error), err: error }, 'the rules of retention could not be followed');
    }),
  );

  constructor(ports: RetentionPorts) {
    this.#ports = ports;
  }

  /** Does what is due, unless that is being done. Throws nothing: the next time comes soon. */
  tick(): Promise<void> {
    return this.#rounds.run();
  }

  /** Waits for what is in hand; the rest is left to another keeper. */
  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  async #work(): Promise<void> {
    const { store, now, clock, logger } = this.#ports;
    const rules = await store.rules();
    if (!rules.rules.some(({ enforced }) => enforced)) return;
    if (!isDue(rules, await store.run(), now())) return;
    const turn = await Turn.take(this.#ports, (last) => isDue(rules, last, now()));
    if (!(turn instanceof Turn)) return;
    const begun = clock();
    try {
      const isDone = await followRules(
        this.#ports,
        rules,
        ENFORCED_TERMS,
        turn,
        () => this.#rounds.isStopping,
      );
      if (this.#rounds.isStopping && !isDone) return await turn.leave();
      await turn.end(isDone ? undefined : 'the rules were changed');
    } catch (error) {
      if (this.#rounds.isStopping) await turn.leave();
      else await turn.end((error as Error).message).catch(() => turn.leave());
      throw error;
    }
    const { archived, forgotten, spared, dispatches, rejected } = turn.run;
    const done = { archived, forgotten, spared, dispatches, rejected };
    logger.info({ version: rules.version, begun, ...done }, 'the rules of retention were followed');
  }
}

/** Whether it is time again, after the last run. */
export function isDue({ rules }: RetentionRules, last: RetentionRun | undefined, now: number): boolean {
  if (last === undefined || last.endedAt === undefined) return true;
  if (rules.some(({ at }) => at > last.startedAt)) return true;
  return now - Date.parse(last.startedAt) >= (last.error === undefined ? EVERY_MS : AGAIN_MS);
}
