/**
 * Looks every few seconds for what a process that is gone has left half done, and goes on with it: one look at a time, and no
 * person has to ask.
 */
export interface Left {
  /** Whether there may be something, as far as is known without asking. */
  readonly isLeft: () => boolean;
  readonly resume: () => Promise<unknown>;
  /** Told what failed; the next look tries it again. */
  readonly onFailed: (error: unknown) => void;
}

const EVERY_MS = 2000;

/** Looks until the function that it gives is called; what is under way then goes on with the next start of a service. */
export function resumeLeft({ isLeft, resume, onFailed }: Left): () => void {
  let isResuming = false;
  let isStopped = false;
  const looking = setInterval(() => {
    if (isResuming || !isLeft()) return;
    isResuming = true;
    resume()
      .catch((error: unknown) => {
        if (!isStopped) onFailed(error);
      })
      .finally(() => {
        isResuming = false;
      });
  }, EVERY_MS);
  looking.unref();
  return () => {
    isStopped = true;
    clearInterval(looking);
  };
}
