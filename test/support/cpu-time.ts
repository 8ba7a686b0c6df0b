/**
 * Milliseconds of processor time that this process takes for some work. What else runs on the machine, and a process
 * that stands still, count for nothing.
 */
export function cpuMs(work: () => void): number {
  const begun = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}

/** Processor time of one measurement that says enough, in milliseconds: what else happens in the process takes less. */
const ENOUGH_MS = 8;
/** No text is longer: what takes no time at this length takes none. */
const LONGEST = 1024 * 1024;
const DOUBLINGS = 3;
const ABOUT_LINEAR = 2.5;
const MEASURED = 4;

/**
 * By how much the time of some work grows with each doubling of its input: about 2 where it is linear, 4 where it is
 * quadratic. The input is doubled until the time can be measured, and three times more; the least of several runs counts.
 * What seems to grow faster than linear is measured again: a busy machine distorts one measurement, and not all.
 *
 * @returns 1 for work that takes no time to speak of with the largest input
 */
export function growth(work: (length: number) => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let measured = 0; measured < MEASURED && least > ABOUT_LINEAR; measured += 1)
    least = Math.min(least, growthOnce(work));
  return least;
}

function growthOnce(work: (length: number) => void): number {
  const factor = 2 ** DOUBLINGS;
  for (let length = 1024; length * factor <= LONGEST; length *= 2) {
    if (cpuMs(() => work(length)) < ENOUGH_MS) continue;
    const least = (size: number) => Math.min(...[1, 2, 3].map(() => cpuMs(() => work(size))));
    const before = least(length);
    // The first run was slow for another reason: to be compiled, or to collect garbage.
    if (before >= ENOUGH_MS) return (least(length * factor) / before) ** (1 / DOUBLINGS);
  }
  return 1;
}
