const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;

/** How long ago something was, to the minute: `just now`, `3min ago`, `2hr 5min ago`, `4d 1hr ago`. */
export function age(then: string, now: string): string {
  const minutes = Math.floor((Date.parse(now) - Date.parse(then)) / MINUTE_MS);
  if (!(minutes >= 1)) return 'just now';
  const parts = [
    [Math.floor(minutes / DAY_MINUTES), 'd'],
    [Math.floor((minutes % DAY_MINUTES) / HOUR_MINUTES), 'hr'],
    [minutes % HOUR_MINUTES, 'min'],
  ] as const;
  const said = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count}${unit}`);
  return `${said.join(' ')} ago`;
}
