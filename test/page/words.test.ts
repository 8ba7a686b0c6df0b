import { describe, expect, it } from 'vitest';
import { bytesText, durationText } from '../../src/page/words.js';

describe('figures of the page', () => {
  it('sizes and durations are short enough to read', () => {
    expect([0, 999, 1234, 5_000_000_000].map(bytesText)).toEqual(['0 bytes', '999 bytes', '1.2 kB', '5 GB']);
    expect([5, 120, 5400, 400_000].map(durationText)).toEqual(['5 s', '2 min', '1 h 30 min', '4 d 15 h']);
  });
});
