import type { SessionSettings, StallSignal, TokenizerName } from '../contracts/session-settings.js';
import { stallThresholds } from '../ledger/stall.js';

/** What a session goes by: its own settings, and the default for each that it has not set. */
export interface ResolvedSettings {
  readonly implementerTokens: number;
  readonly reviewerTokens: number;
  readonly maxOutputTokens: number;
  readonly tokenizer: TokenizerName;
  readonly boardFollowsResults: boolean;
  readonly stallThresholds: Readonly<Record<StallSignal, number>>;
}

/** Settings without a key for what was not set. */
type GivenSettings = { [Name in keyof SessionSettings]?: NonNullable<SessionSettings[Name]> };

const DEFAULT_SETTINGS: ResolvedSettings = {
  implementerTokens: 4800,
  reviewerTokens: 4000,
  maxOutputTokens: 1200,
  tokenizer: 'approximate',
  boardFollowsResults: true,
  stallThresholds: stallThresholds(),
};

export function resolvedSettings(settings: SessionSettings = {}): ResolvedSettings {
  const { stallThresholds: thresholds, ...others } = mergedSettings({}, settings);
  return {
    ...DEFAULT_SETTINGS,
    ...others,
    stallThresholds: { ...DEFAULT_SETTINGS.stallThresholds, ...thresholds },
  };
}

/** The settings after more were recorded, keys in the order of the schema, so that equal settings have equal bytes. */
export function mergedSettings(before: SessionSettings = {}, more: SessionSettings): GivenSettings {
  const given = { ...before, ...more };
  const { implementerTokens, reviewerTokens, maxOutputTokens, tokenizer, boardFollowsResults } = given;
  const thresholds = { ...before.stallThresholds, ...more.stallThresholds };
  const ordered = Object.fromEntries(Object.entries(thresholds).sort());
  return {
    ...(implementerTokens !== undefined && { implementerTokens }),
    ...(reviewerTokens !== undefined && { reviewerTokens }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(tokenizer !== undefined && { tokenizer }),
    ...(boardFollowsResults !== undefined && { boardFollowsResults }),
    ...(Object.keys(ordered).length > 0 && { stallThresholds: ordered }),
  };
}
