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
