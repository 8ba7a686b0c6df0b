import type { RetentionRules, RetentionRun } from '../../contracts/retention-record.js';
import { NOTHING_DONE } from '../../contracts/retention-record.js';
import type { HeldLease } from '../../ports/lease-store.js';
import { Jobs, LEFT_EVERY_MS } from '../../runtime/jobs.js';
import { followRules, type RetentionPorts } from '../lifecycle/follow-retention.js';
import { forgetKind } from '../lifecycle/forget-session.js';

/**
 * Follows the rules of retention, once an hour and soon after they were changed. Any number of keepers may run: the one that
 * holds the lease does it.
 */
const EVERY_MS = 3_600_000;
/** After a failure. */
const AGAIN_MS = 600_000;

export class RetentionKeeper {
  readonly #ports: RetentionPorts;
  readonly #jobs: Jobs;
  readonly #forgets: Jobs;

  constructor(ports: RetentionPorts) {
    this.#ports = ports;
    this.#forgets = new Jobs(forgetKind(ports), { ...ports, everyMs: LEFT_EVERY_MS });
    const kind = {
      name: 'retention',
      failed: 'the rules of retention could not be followed',
      left: async () => ((await this.#isDue(await ports.store.rules())) ? [''] : []),
      run: (_: string, lease: HeldLease) => this.#follow(lease),
    };
    this.#jobs = new Jobs(kind, ports);
  }

  /** Does what is due, unless that is being done. Throws nothing: the next time comes soon. */
  tick(): Promise<void> {
    return this.#jobs.resume();
  }

  /** Waits for what is in hand; the rest is left to another keeper. */
  async stop(): Promise<void> {
    await Promise.all([this.#jobs.stop(), this.#forgets.stop()]);
  }

  async #isDue(rules: RetentionRules): Promise<boolean> {
    const { store, now } = this.#ports;
    return rules.rules.length > 0 && !rules.paused && isDue(rules, await store.run(), now());
  }

  async #follow(lease: HeldLease): Promise<void> {
    const { store, clock, logger } = this.#ports;
    const rules = await store.rules();
    // Another keeper may have done it a moment ago.
    if (!(await this.#isDue(rules))) return;
    const startedAt = clock();
    const done = { ...NOTHING_DONE };
    const save = (more: Partial<RetentionRun> = {}) => store.saveRun({ v: 1, startedAt, ...done, ...more });
    await save();
    let error: string | undefined;
    try {
      const isDone = await followRules(this.#ports, rules, lease, this.#forgets, done);
      if (!isDone) error = 'the rules were changed';
    } catch (failure) {
      // Without an end: another keeper goes on at once.
      if (!lease.lost.aborted) await save({ endedAt: clock(), error: (failure as Error).message });
      throw failure;
    }
    await save({ endedAt: clock(), ...(error !== undefined && { error }) });
    logger.info({ version: rules.version, startedAt, ...done }, 'the rules of retention were followed');
  }
}

/** Whether it is time again, after the last run. */
export function isDue({ rules }: RetentionRules, last: RetentionRun | undefined, now: number): boolean {
  if (last === undefined || last.endedAt === undefined) return true;
  if (rules.some(({ at }) => at > last.startedAt)) return true;
  return now - Date.parse(last.startedAt) >= (last.error === undefined ? EVERY_MS : AGAIN_MS);
}
