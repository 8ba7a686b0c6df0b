import { describe, expect, it } from 'vitest';
import { age } from '../../src/shared/text.js';

const NOW = '2026-03-01T12:00:00.000Z';
const ago = (ms: number) => age(new Date(Date.parse(NOW) - ms).toISOString(), NOW);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('an age', () => {
  it.each([
    [0, 'just now'],
    [MINUTE - 1, 'just now'],
    [MINUTE, '1min ago'],
    [3 * MINUTE, '3min ago'],
    [HOUR - 1, '59min ago'],
    [HOUR, '1hr ago'],
    [2 * HOUR + 5 * MINUTE, '2hr 5min ago'],
    [DAY - 1, '23hr 59min ago'],
    [DAY, '1d ago'],
    [DAY + MINUTE, '1d 1min ago'],
    [DAY + HOUR + MINUTE, '1d 1hr 1min ago'],
    [40 * DAY, '40d ago'],
    [2 * DAY + 3 * HOUR + 4 * MINUTE, '2d 3hr 4min ago'],
  ])('the age of %i ms is %s', (ms, text) => {
    expect(ago(ms)).toBe(text);
  });

  it('an age is empty for a time that lies ahead, or for no time at all', () => {
    expect(ago(-DAY)).toBe('just now');
    expect(age('', NOW)).toBe('just now');
    expect(age(NOW, '')).toBe('just now');
  });
});
