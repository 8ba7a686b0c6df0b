import type { HealthHistoryReply, HealthPoint } from '../../contracts/inspector-api.js';

export type HealthSeries = Exclude<keyof HealthPoint, 'at'>;

/** Times in seconds, and a value for each; null if unknown. */
export interface PlotData {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
}

/** Returns one series over time, with a gap where points are missing. */
export function plotData({ points, everyMs }: HealthHistoryReply, name: HealthSeries): PlotData {
  const times: number[] = [];
  const values: (number | null)[] = [];
  let before: number | undefined;
  for (const point of points) {
    const time = Date.parse(point.at) / 1000;
    if (before !== undefined && time - before > (everyMs / 1000) * 3) {
      times.push(before + everyMs / 1000);
      values.push(null);
    }
    times.push(time);
    values.push(point[name] ?? null);
    before = time;
  }
  return { times, values };
}

export function newestOf({ values }: PlotData): number | undefined {
  return values.findLast((value) => value !== null) ?? undefined;
}

/** Returns a number with three significant digits and its unit; `bytes` are scaled. */
export function figureText(value: number, unit = ''): string {
  if (unit === 'bytes') return bytesText(value);
  const digits = value === 0 || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const text = value.toLocaleString('en', { maximumFractionDigits: digits });
  return unit === '' ? text : `${text} ${unit}`;
}

export function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toLocaleString('en', { maximumFractionDigits: unit === 0 || value >= 100 ? 0 : 1 })} ${units[unit]}`;
}

/** Returns `3 d 4 h`, `5 h 20 min`, `12 min` or `40 s`. */
export function durationText(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${Math.floor(seconds)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
