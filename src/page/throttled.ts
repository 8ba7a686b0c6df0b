/** Work that is done again and again, never twice at once. */
export interface Throttled {
  /** Does it now, or right after the run that is under way. */
  readonly now: () => void;
  /** Does it once more, as soon as enough time has passed since the last run began. */
  readonly soon: () => void;
  readonly stop: () => void;
}

/**
 * Runs `work` at most once in `everyMs`, however often it is wanted; what is wanted while it runs makes one more run.
 *
 * @param work never rejects
 */
export function throttled(work: () => Promise<void>, everyMs: number): Throttled {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = false;
  let wanted: 'now' | 'soon' | undefined;
  let began = -everyMs;
  let stopped = false;
  const start = async () => {
    clearTimeout(timer);
    timer = undefined;
    running = true;
    began = performance.now();
    await work();
    running = false;
    const next = wanted;
    wanted = undefined;
    if (next === 'now') now();
    else if (next === 'soon') soon();
  };
  const now = () => {
    if (stopped) return;
    if (running) wanted = 'now';
    else void start();
  };
  const soon = () => {
    if (stopped || timer !== undefined) return;
    if (running) wanted ??= 'soon';
    else timer = setTimeout(() => void start(), Math.max(0, began + everyMs - performance.now()));
  };
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
  };
  return { now, soon, stop };
}
