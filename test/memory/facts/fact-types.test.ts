import { describe, expect, it } from 'vitest';
import { compileRequest } from '../../../src/contracts/compile-request.js';
import { isAtHand, isElsewhere, refusalOf } from '../../../src/memory/facts/fact-types.js';
import { compilePrompt } from '../../../src/prompt/compile-prompt.js';
import { implementer, observer, fact as sessionFact } from '../../support/builders.js';
import { StatedSession } from '../../support/stated.js';

const fact = { subject: 'style', relation: 'rule', object: 'Two spaces', tags: ['convention' as const] };

it("a line of the user's conversation is refused to agents as that, and not as the user's words", () => {
  const of = (origin: 'user' | 'person') => refusalOf(undefined, sessionFact({ ref: 'M1', origin }));
  expect(of('user')).toBe(
    "fact M1 is from the user's conversation and has the user's rank: only a person changes it, at a terminal or on the page",
  );
  expect(of('person')).toContain('fact M1 is what the person said');
});

describe('a statement with a scope', () => {
  it.each([
    ['legacy/**', 'legacy/old/a.ts', true],
    ['legacy/', 'legacy/a.ts', true],
    ['./legacy', 'legacy', true],
    ['legacy/**', '/home/ann/shop/legacy/a.ts', true],
    ['*.sql', 'db/migrations/1.sql', true],
    ['src/**/*.test.ts', 'src/a/b/c.test.ts', true],
    ['legacy/**', 'src/legacy.ts', false],
    ['a*a*a*b', 'a'.repeat(200), false],
  ])('for %s is meant for %s: %s', (glob, path, isMeant) => {
    expect(isElsewhere({ scope: { paths: [glob] } }, { paths: [path] })).toBe(!isMeant);
  });

  it('of a task or a branch is left out elsewhere; what is not known excludes nothing', () => {
    const [task, branch] = [{ scope: { task: '7' } }, { scope: { branch: 'next' } }];
    expect([task, branch].map((one) => isElsewhere(one, { task: '7', branch: 'next' }))).toEqual([
      false,
      false,
    ]);
    expect([task, branch].map((one) => isElsewhere(one, { task: '8', branch: 'main' }))).toEqual([
      true,
      true,
    ]);
    expect([task, branch].map((one) => isElsewhere(one, {}))).toEqual([false, false]);
  });

  it('ends by subject or contrast only what holds in the same place, and by name anything', async () => {
    const session = new StatedSession();
    const states = (object: string, more = {}) =>
      session.result(
        implementer({
          facts: [{ subject: 'style', relation: 'decided', object, tags: ['decision'], ...more }],
        }),
      );
    await states('Use tabs');
    await states('Use two spaces instead of tabs', { scope: { paths: ['legacy/**'] } });
    expect(await session.holds()).toEqual(['M1 Use tabs', 'M2 Use two spaces instead of tabs']);
    await states('Use four spaces', { scope: { paths: ['legacy/**'] } });
    await states('Use three spaces', { scope: { branch: 'next' }, replaces: ['M1'] });
    expect(await session.ended()).toEqual(['M1 replaced by M4', 'M2 replaced by M3']);
  });
});

it('a rule is about the files that it names, where it has no scope', () => {
  const rule = { ...fact, object: 'Never touch legacy/' };
  expect(isAtHand(rule, { paths: ['legacy/a.ts'] })).toBe(true);
  expect(isAtHand(rule, { paths: ['src/a.ts'] })).toBe(false);
});

it('a prompt has the rules of its files, however many others there are, and none of other places', async () => {
  const session = new StatedSession();
  const rule = (object: string, scope?: object) =>
    session.result(observer({ facts: [{ ...fact, subject: object, object, ...(scope && { scope }) }] }));
  await rule('Two spaces here', { paths: ['legacy/**'] });
  await rule('Never touch vendor/');
  await rule('Only on another branch', { branch: 'next' });
  for (let n = 0; n < 60; n += 1) await rule(`Something about topic ${n}`);
  const state = await session.state();
  const prompt = (taskPrompt: string) =>
    compilePrompt(
      state,
      compileRequest.parse({
        kind: 'dispatch',
        session: 'demo',
        role: 'implementer',
        taskId: '9',
        taskPrompt,
        budget: { inputTokens: 20_000 },
      }),
    ).prompt;
  expect(prompt('Change legacy/a.ts')).toContain('Two spaces here');
  expect(prompt('Change vendor/lib.ts')).toContain('Never touch vendor/');
  const other = prompt('Change src/a.ts');
  expect(other).not.toContain('Two spaces here');
  expect(other).not.toContain('Only on another branch');
});
