import { describe, expect, it } from 'vitest';
import { sessionSettings } from '../../../src/contracts/session-meta-events.js';
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

  it.each([
    [{ implementerTokens: 99 }],
    [{ tokenizer: 'exact' }],
    [{ stallThresholds: { loops: 2 } }],
    [{ maxFacts: 10 }],
    [{ boardFollowsResults: 'no' }],
  ])('the settings of a session refuse %j', (settings) => {
    expect(sessionSettings.safeParse(settings).success).toBe(false);
  });
});
