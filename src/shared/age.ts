const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long ago something was, from one time to another: `just now`, `3min ago`, `1hr ago`, `2d ago`. */
export function age(then: string, now: string): string {
  const ms = Date.parse(now) - Date.parse(then);
  if (!(ms >= MINUTE_MS)) return 'just now';
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}min ago`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)}hr ago`;
  return `${Math.floor(ms / DAY_MS)}d ago`;
}
