import { describe, expect, it } from 'vitest';
import { NO_RULES, RETENTION_ACTIONS, type RetentionRules } from '../../../src/contracts/lifecycle-record.js';
import type { Token } from '../../../src/contracts/names.js';
import { dueOf, REOPENED_WITHIN_MS, withRule } from '../../../src/memory/session/retention-rules.js';
import { spanMs } from '../../../src/shared/text.js';
import * as fc from '../../support/properties.js';

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-23T12:00:00.000Z');
const AT = '2026-11-01T00:00:00.000Z';
const PARSER = 'parser' as Token;
const DEFAULT = 'default' as Token;

const project = fc.constantFrom(DEFAULT, PARSER, 'lexer' as Token);
const days = fc.integer({ min: 1, max: 400 }).map((count) => `${count}d`);
const rule = fc.tuple(fc.option(project, { nil: undefined }), fc.constantFrom(...RETENTION_ACTIONS), days);
const someRules: fc.Arbitrary<RetentionRules> = fc
  .array(rule, { maxLength: 4 })
  .map((given) => given.reduce((rules, [of, action, after]) => set(rules, action, after, of), NO_RULES));
const past = fc.integer({ min: 0, max: 500 * DAY }).map((age) => NOW - age);
const session = fc.record({
  project,
  at: past,
  archived: fc.option(fc.record({ at: past }), { nil: undefined }),
});

function set(rules: RetentionRules, action: (typeof RETENTION_ACTIONS)[number], after: string, of?: Token) {
  return withRule(rules, of, { action, ...(action !== 'keep' && { after }), at: AT });
}

describe('the rules of retention', () => {
  it('a session that is younger than the rule of its project says is never touched', () => {
    fc.assert(
      fc.property(someRules, session, (rules, aged) => {
        const due = dueOf(rules, aged, NOW);
        const own = rules.rules.find((each) => each.project === aged.project);
        const { action, after } = own ?? rules.rules.find((each) => each.project === undefined) ?? {};
        const isOld = after !== undefined && NOW - aged.at > spanMs(after);
        if (due !== undefined) expect(isOld).toBe(true);
        if (aged.archived === undefined) expect(due?.action).toBe(isOld ? 'archive' : undefined);
        else expect([undefined, action === 'forget' ? 'forget' : undefined]).toContain(due?.action);
      }),
    );
  });

  it('the rule of a project counts in place of the one of the installation, also one that keeps', () => {
    const rules = set(set(NO_RULES, 'forget', '365d'), 'keep', '', PARSER);
    const aged = { at: NOW - 366 * DAY };
    expect(dueOf(rules, { ...aged, project: PARSER }, NOW)).toBeUndefined();
    expect(dueOf(rules, { ...aged, project: DEFAULT }, NOW)).toMatchObject({
      action: 'archive',
      after: '365d',
    });
  });

  it('a session that a rule archived to forget it goes an hour later, and one that a person archived by its age', () => {
    const rules = set(NO_RULES, 'forget', '365d');
    const idleSince = NOW - 366 * DAY;
    const due = (at: number, rest: object = {}) =>
      dueOf(rules, { project: DEFAULT, at, archived: { at, ...rest } }, NOW)?.action;
    expect(due(NOW - REOPENED_WITHIN_MS, { idleSince })).toBe('forget');
    expect(due(NOW - REOPENED_WITHIN_MS + 1, { idleSince })).toBeUndefined();
    expect(due(NOW - 364 * DAY)).toBeUndefined();
    expect(due(NOW - 366 * DAY)).toBe('forget');
  });

  it('a rule that is set replaces the one before and ends the pause after a restore, and goes when it is removed', () => {
    const before = { ...set(NO_RULES, 'archive', '90d'), paused: true } as const;
    const changed = set(before, 'forget', '30d');
    expect(changed).toEqual({ v: 1, rules: [{ action: 'forget', after: '30d', at: AT }] });
    expect(withRule(changed, undefined, undefined).rules).toEqual([]);
  });
});
