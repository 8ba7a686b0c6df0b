import { describe, expect, it } from 'vitest';
import { mergedSettings } from '../../../src/memory/session/charter.js';

describe('the settings of a session', () => {
  it('the settings of a session keep what a later event leaves out, and have one order of bytes whatever came first', () => {
    const one = mergedSettings({ reviewerTokens: 900 }, { implementerTokens: 800 });
    const other = mergedSettings({ implementerTokens: 800 }, { reviewerTokens: 900 });
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
    const thresholds = mergedSettings(
      { stallThresholds: { same_test: 3 } },
      { stallThresholds: { ping_pong: 4 } },
    );
    expect(JSON.stringify(thresholds)).toBe('{"stallThresholds":{"ping_pong":4,"same_test":3}}');
  });
});
