import { expect, it } from 'vitest';
import { durationText } from '../../src/page/words.js';

it('durations are short enough to read', () => {
  expect([5, 120, 5400, 400_000].map(durationText)).toEqual(['5 s', '2 min', '1 h 30 min', '4 d 15 h']);
});
