/** Returned for work that missed its deadline. */
export const LATE = Symbol('late');

/** Returns the result of the work, or `LATE` after this many milliseconds; the work itself continues. */
export async function withinDeadline<T>(ms: number, work: Promise<T>): Promise<T | typeof LATE> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
