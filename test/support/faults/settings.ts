/**
 * How long and from where the fault suite runs: `npm run test:faults -- --long --seed 7 --rounds 20` sets these.
 * Without it, as in the normal suite, the quick version runs.
 */
export interface FaultSettings {
  readonly long: boolean;
  /** First seed; each round has the next one. A failure names its own: run it alone with `--seed N --rounds 1`. */
  readonly seed: number;
  /** Rounds instead of those that the version has. */
  readonly rounds: number | undefined;
  /**
   * The steady load: for how long, and how many results a second; half of what is measured first, where no rate is
   * given. It runs in the long version, or when asked for.
   */
  readonly load: { readonly asked: boolean; readonly minutes: number; readonly rate: number | undefined };
}

export const SETTINGS: FaultSettings = {
  long: process.env.FAULTS_LONG === '1',
  seed: Number(process.env.FAULTS_SEED ?? 1),
  rounds: process.env.FAULTS_ROUNDS === undefined ? undefined : Number(process.env.FAULTS_ROUNDS),
  load: {
    asked: process.env.FAULTS_LONG === '1' || process.env.FAULTS_MINUTES !== undefined,
    minutes: Number(process.env.FAULTS_MINUTES ?? 30),
    rate: process.env.FAULTS_RATE === undefined ? undefined : Number(process.env.FAULTS_RATE),
  },
};

export function seeds(quick: number, long: number, { seed, rounds, ...settings } = SETTINGS): number[] {
  return Array.from({ length: rounds ?? (settings.long ? long : quick) }, (_, round) => seed + round);
}

/** Runs one round; what it throws says how to run that round again. */
export async function withSeed(name: string, seed: number, round: () => Promise<void>): Promise<void> {
  try {
    await round();
  } catch (cause) {
    const again = `npm run test:faults -- ${name} --seed ${seed} --rounds 1`;
    const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    throw new Error(`seed ${seed}, to be run again with "${again}": ${text}`, { cause });
  }
}
