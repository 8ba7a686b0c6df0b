import type { RetentionRule, RetentionRules } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import { spanMs } from '../../shared/text.js';

/** A session as the rules see it; times are milliseconds since 1970. */
interface Aged {
  readonly project: Token;
  /** Time of its last event. */
  readonly at: number;
  /** Since when it is archived; and, if a rule archived it, the time of the last event before that. */
  readonly archived?: { readonly at: number; readonly idleSince?: number } | undefined;
}

export interface DueByRule {
  readonly action: 'archive' | 'forget';
  /** Time of the last event; being archived by a rule is not activity. */
  readonly last: number;
  /** Sessions without an event or a result since then are due. */
  readonly before: number;
  /** The rule, for example `90d`. */
  readonly after: string;
}

/** A session that a rule has archived in order to forget it can be reopened for this time. */
export const REOPENED_WITHIN_MS = 3_600_000;

/** Returns the rule of a project: its own, else that of the installation. */
export function ruleOf({ rules }: RetentionRules, project: Token): RetentionRule | undefined {
  return rules.find((rule) => rule.project === project) ?? rules.find((rule) => rule.project === undefined);
}

/**
 * Returns what is due for a session at a time. Only archived sessions are forgotten: they take no results, so none can be lost.
 */
export function dueOf(rules: RetentionRules, session: Aged, now: number): DueByRule | undefined {
  const { project, at, archived } = session;
  const { action, after } = ruleOf(rules, project) ?? {};
  if (after === undefined || action === undefined || action === 'keep') return undefined;
  const last = archived?.idleSince ?? at;
  const before = now - spanMs(after);
  if (last >= before) return undefined;
  if (archived === undefined) return { action: 'archive', last, before, after };
  const isDue = action === 'forget' && archived.at + REOPENED_WITHIN_MS <= now;
  return isDue ? { action, last, before, after } : undefined;
}

/** Replaces the rule of the installation or of a project, or removes it. */
export function withRule(
  before: RetentionRules,
  project: Token | undefined,
  rule: Omit<RetentionRule, 'project'> | undefined,
): RetentionRules {
  const rules = before.rules.filter((each) => each.project !== project);
  if (rule !== undefined) rules.push({ ...(project !== undefined && { project }), ...rule });
  rules.sort((one, other) => ((one.project ?? '') < (other.project ?? '') ? -1 : 1));
  return { v: 1, rules };
}
