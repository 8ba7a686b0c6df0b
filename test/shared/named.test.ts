import { expect, it } from 'vitest';
import { named } from '../../src/shared/text.js';

it('the first ten names are said, and how many there are beside them', () => {
  const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
  expect(named(names.slice(0, 2))).toBe('n0, n1');
  expect(named(names.slice(0, 10))).toBe(names.slice(0, 10).join(', '));
  expect(named(names, 1)).toBe('n0 and 11 more');
  expect(named(names)).toBe(`${names.slice(0, 10).join(', ')} and 2 more`);
});
