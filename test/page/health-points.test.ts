import { describe, expect, it } from 'vitest';
import {
  bytesText,
  durationText,
  figureText,
  newestOf,
  plotData,
} from '../../src/page/health/health-points.js';

const at = (second: number) => new Date(1_000_000 + second * 1000).toISOString();

describe('figures of the health', () => {
  it('a plot has a gap where moments are missing, and where a figure is not known', () => {
    const points = [
      { at: at(0), pending: 3 },
      { at: at(10) },
      { at: at(20), pending: 5 },
      { at: at(120), pending: 0 },
    ];
    const data = plotData({ everyMs: 10_000, points }, 'pending');
    expect(data.values).toEqual([3, null, 5, null, 0]);
    expect(data.times.map((time) => time - 1000)).toEqual([0, 10, 20, 30, 120]);
    expect(newestOf(data)).toBe(0);
    expect(newestOf(plotData({ everyMs: 10_000, points }, 'compileMsMean'))).toBeUndefined();
  });

  it('figures are short enough to read', () => {
    expect([0, 3.149, 42.42, 1234.5].map((value) => figureText(value))).toEqual([
      '0',
      '3.15',
      '42.4',
      '1,235',
    ]);
    expect([0, 999, 1234, 5_000_000_000].map(bytesText)).toEqual(['0 bytes', '999 bytes', '1.2 kB', '5 GB']);
    expect([5, 120, 5400, 400_000].map(durationText)).toEqual(['5 s', '2 min', '1 h 30 min', '4 d 15 h']);
  });
});
