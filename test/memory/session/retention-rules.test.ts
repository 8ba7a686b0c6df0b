import { describe, expect, it } from 'vitest';
import {
  NO_RULES,
  type RETENTION_TERMS,
  type RetentionRules,
} from '../../../src/contracts/lifecycle-record.js';
import type { Token } from '../../../src/contracts/names.js';
import {
  contradiction,
  cutsOf,
  dueOf,
  termOf,
  withRule,
} from '../../../src/memory/session/retention-rules.js';
import { spanMs } from '../../../src/shared/text.js';
import * as fc from '../../support/properties.js';

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-23T12:00:00.000Z');
const AT = '2026-11-01T00:00:00.000Z';
const PROJECTS = ['default', 'parser', 'lexer'] as Token[];

const project = fc.constantFrom(...PROJECTS);
const after = fc.option(
  fc.oneof(
    fc.integer({ min: 1, max: 400 }).map((days) => `${days}d`),
    fc.constant('never'),
  ),
  {
    nil: undefined,
  },
);
const terms = fc.record({
  archiveAfter: after,
  forgetAfter: after,
  dispatchesAfter: after,
  rejectedAfter: after,
});
const someRules: fc.Arbitrary<RetentionRules> = fc
  .array(fc.tuple(fc.option(project, { nil: undefined }), terms), { maxLength: 4 })
  .map((given) =>
    given.reduce(
      (rules, [of, limits]) => withRule(rules, AT, { ...limits, project: of, remove: false }),
      NO_RULES,
    ),
  );
const session = fc.record({
  project,
  at: fc.integer({ min: 0, max: 500 * DAY }).map((age) => NOW - age),
  archived: fc.option(
    fc.record({
      idleSince: fc.option(
        fc.integer({ min: 0, max: 500 * DAY }).map((age) => new Date(NOW - age).toISOString()),
        { nil: undefined },
      ),
    }),
    { nil: undefined },
  ),
});

const set = (rules: RetentionRules, given: object) => withRule(rules, AT, { remove: false, ...given });

describe('what the rules say of a session', () => {
  it('a session that is younger than the term of its project is never touched', () => {
    fc.assert(
      fc.property(someRules, session, (rules, aged) => {
        const due = dueOf(rules, aged, NOW);
        const last = Date.parse(aged.archived?.idleSince ?? new Date(aged.at).toISOString());
        for (const [what, which] of [
          ['archive', 'archiveAfter'],
          ['forget', 'forgetAfter'],
        ] as const) {
          const own = rules.rules.find((rule) => rule.project === aged.project)?.[which];
          const limit = own ?? rules.rules.find((rule) => rule.project === undefined)?.[which] ?? 'never';
          const isOld = limit !== 'never' && NOW - last > spanMs(limit);
          if (due?.what === what) expect(isOld).toBe(true);
          if (what === 'forget' && isOld) expect(due?.what).toBe('forget');
          if (what === 'archive' && isOld && aged.archived === undefined) expect(due).toBeDefined();
        }
        if (aged.archived !== undefined) expect(due?.what).not.toBe('archive');
      }),
    );
  });

  it('a project overrides the installation term by term, also with never', () => {
    const rules = set(set(NO_RULES, { archiveAfter: '90d', forgetAfter: '365d' }), {
      project: 'parser',
      forgetAfter: 'never',
    });
    const term = (of: string, which: (typeof RETENTION_TERMS)[number]) =>
      termOf(rules, of as Token, which)?.after;
    expect(term('lexer', 'forgetAfter')).toBe('365d');
    expect(term('parser', 'forgetAfter')).toBeUndefined();
    expect(term('parser', 'archiveAfter')).toBe('90d');
  });

  it('a session that a rule archived counts from when it moved last, one that a person archived from then', () => {
    const rules = set(NO_RULES, { archiveAfter: '90d', forgetAfter: '365d' });
    const at = NOW - 10 * DAY;
    const idleSince = new Date(NOW - 366 * DAY).toISOString();
    const aged = { project: 'default' as Token, at };
    expect(dueOf(rules, { ...aged, archived: { idleSince } }, NOW)).toMatchObject({ what: 'forget' });
    expect(dueOf(rules, { ...aged, archived: {} }, NOW)).toBeUndefined();
  });

  it('without rules everything is kept', () => {
    fc.assert(
      fc.property(session, (aged) => {
        expect(dueOf(NO_RULES, aged, NOW)).toBeUndefined();
      }),
    );
    expect(cutsOf(NO_RULES, [['demo' as Token, 'default' as Token]], 'dispatchesAfter')).toEqual({
      each: [],
    });
  });
});

describe('what the rules say of messages', () => {
  const messages = fc.array(
    fc.record({ of: fc.integer({ min: 0, max: 4 }), days: fc.integer({ min: 0, max: 500 }) }),
  );

  it('a message goes when it is older than the term of its project, and not before', () => {
    const owners = [...PROJECTS, 'default' as Token].map((of, at) => [`s${at}` as Token, of] as const);
    fc.assert(
      fc.property(someRules, messages, (rules, stored) => {
        const cuts = cutsOf(rules, owners, 'dispatchesAfter');
        for (const { of, days } of stored) {
          // The last one belongs to a session that nobody knows.
          const [name, owner] = owners[of] ?? ['nobody', undefined];
          const own = cuts.each.find((each) => each.session === name)?.after;
          const goes = [cuts.all, own].some((limit) => limit !== undefined && days * DAY > spanMs(limit));
          const limit = owner === undefined ? undefined : termOf(rules, owner, 'dispatchesAfter')?.after;
          if (owner !== undefined) expect(goes).toBe(limit !== undefined && days * DAY > spanMs(limit));
          else if (goes)
            for (const every of PROJECTS)
              expect(days * DAY).toBeGreaterThan(
                spanMs(termOf(rules, every, 'dispatchesAfter')?.after ?? '99999d'),
              );
        }
      }),
    );
  });

  it('one purge does for all where no project has a rule of its own', () => {
    const rules = set(NO_RULES, { dispatchesAfter: '30d' });
    expect(cutsOf(rules, [['demo' as Token, 'default' as Token]], 'dispatchesAfter')).toEqual({
      all: '30d',
      each: [],
    });
  });
});

describe('how rules change', () => {
  it('a rule that is changed keeps what was not given, and goes when it is removed', () => {
    const changed = set(set(NO_RULES, { archiveAfter: '90d', forgetAfter: '365d' }), { archiveAfter: '30d' });
    expect(changed).toEqual({
      ...{ v: 1, version: 2 },
      rules: [{ archiveAfter: '30d', forgetAfter: '365d', at: AT }],
    });
    expect(withRule(changed, AT, { remove: true }).rules).toEqual([]);
  });

  it('a rule that is set ends the pause after a restore', () => {
    expect(set({ ...NO_RULES, paused: true }, { archiveAfter: '90d' })).not.toHaveProperty('paused');
  });

  it('a rule that forgets before it archives is named, also across installation and project', () => {
    const rules = set(set(NO_RULES, { archiveAfter: '90d' }), { project: 'parser', forgetAfter: '30d' });
    expect(contradiction(rules)).toEqual({ project: 'parser', archive: '90d', forget: '30d' });
    expect(contradiction(set(NO_RULES, { archiveAfter: 'never', forgetAfter: '30d' }))).toBeUndefined();
  });
});
