import { describe, expect, it } from 'vitest';
import { checkedBy } from '../../src/contracts/checked.js';
import { LEARNING_REQUESTS } from '../../src/contracts/learning-requests.js';

describe('what is wrong with a request', () => {
  it('the explanation of a wrong request counts characters as the limit does: one that takes two units is one', () => {
    const propose = (content: string) =>
      checkedBy(LEARNING_REQUESTS['learning.propose'].arguments, { content });
    expect(propose('𝒮'.repeat(200)).content).toBe('𝒮'.repeat(200));
    expect(() => propose('𝒮'.repeat(201))).toThrow('must be at most 200 characters (got 201 characters)');
  });
});
