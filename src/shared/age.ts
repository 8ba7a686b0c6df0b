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

/** A stretch of time as people write it: a number, then `m` for minutes, `h` for hours or `d` for days. */
export const SPAN_PATTERN = /^[1-9][0-9]{0,4}[mhd]$/;
/** A stretch of time in days, or `never`. */
export const TERM_PATTERN = /^(?:[1-9][0-9]{0,4}d|never)$/;
const UNIT_MINUTES = { m: 1, h: HOUR_MINUTES, d: DAY_MINUTES } as const;

/** Milliseconds of a stretch of time that fits `SPAN_PATTERN`. */
export function spanMs(span: string): number {
  const unit = span.at(-1) === 'd' ? 'd' : span.at(-1) === 'h' ? 'h' : 'm';
  return Number.parseInt(span, 10) * UNIT_MINUTES[unit] * MINUTE_MS;
}
