import { setMaxListeners } from 'node:events';

/** A signal linked to others until released. */
interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Unlinks the sources and clears the timer. The signal may still fire, without an effect. */
  release(): void;
}

/**
 * Makes a signal that fires with the reason of the first source, or with a `TimeoutError`.
 *
 * Its sources and timer reference it. In Node 20 the result of `AbortSignal.any` may be garbage-collected, and a
 * request that waits for it then waits forever.
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
    // One listener per concurrent request, whose number the caller limits.
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
