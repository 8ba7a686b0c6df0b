import { setMaxListeners } from 'node:events';

/** A signal that fires with others, until it is released. */
interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Releases the others and the timer. The signal may still fire, without an effect. */
  release(): void;
}

/**
 * A signal that fires, with the same reason, as soon as one of the others does, or with a `TimeoutError` after a time.
 *
 * Its sources and its timer hold it. In Node 20 nothing holds the result of `AbortSignal.any`: once it is collected, a
 * request that waits for it waits for good.
 *
 * @param timeoutMs milliseconds; without it there is no timeout
 */
export function linkedSignal(
  sources: readonly (AbortSignal | undefined)[],
  timeoutMs?: number,
): LinkedSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const releases: (() => void)[] = [];
  for (const source of sources) {
    if (source === undefined) continue;
    if (source.aborted) {
      controller.abort(source.reason);
      continue;
    }
    const fire = () => controller.abort(source.reason);
    // One for each concurrent request: the caller bounds their number.
    setMaxListeners(0, source);
    source.addEventListener('abort', fire, { once: true });
    releases.push(() => source.removeEventListener('abort', fire));
  }
  if (timeoutMs !== undefined && !signal.aborted) {
    const timer = setTimeout(() => controller.abort(timeoutError()), timeoutMs);
    releases.push(() => clearTimeout(timer));
  }
  return {
    signal,
    release() {
      for (const release of releases) release();
    },
  };
}

function timeoutError(): DOMException {
  return new DOMException('The operation was aborted due to timeout', 'TimeoutError');
}
