import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CompileRequestInput } from '../../src/contracts/compile-request.js';
import type { Token } from '../../src/contracts/names.js';
import type { DispatchReply } from '../../src/contracts/replies/compile-reply.js';
import { type PromptParts, partsOf } from '../prompt/parts.js';
import { cli } from '../support/cli.js';
import {
  implemented,
  newSession,
  publishWire,
  reviewed,
  type System,
  startSystem,
} from '../support/system.js';

/** Rounds of work and review, as the agents see them in their prompts. */

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

const LEAK = {
  severity: 'critical' as const,
  file: 'src/pool.ts',
  message: 'The handle leaks when the query throws',
  fix: 'Close the handle in finally',
};
const NIT = { severity: 'minor' as const, file: 'src/pool.ts', message: 'Odd name' };
const WORK = implemented('1', {
  summary: 'wrote the pool',
  files_modified: ['src/pool.ts'],
  tests: [
    { command: 'npm test', passed: false, failures: ['pool: 3 handles left'] },
    { command: 'npm run lint', passed: true },
  ],
  follow_up_actions: ['measure it'],
});
const REVIEW = reviewed('1', 'needs_changes', {
  issues: [NIT, LEAK],
  required_fixes: ['Close the handle when the query throws'],
});

/** Publishes the results in their order; the last one's sequence. */
async function published(
  session: Token,
  ...results: readonly (typeof WORK | typeof REVIEW)[]
): Promise<number> {
  let last = 0;
  for (const result of results) {
    const ack =
      'status' in result
        ? await publishWire(system.client, 'implementer', session, result)
        : await publishWire(system.client, 'reviewer', session, result);
    last = ack.sequence;
  }
  return last;
}

async function compile(session: Token, after: number, more: Partial<CompileRequestInput> = {}) {
  const request = { session, taskId: '1', taskPrompt: 'Change src/pool.ts', after, ...more };
  const reply = await system.client.compile({ ...request, explain: true });
  if (reply.kind !== 'dispatch') throw new Error('a dispatch prompt was asked for');
  return reply;
}

async function parts(session: Token, after: number, role: 'implementer' | 'reviewer'): Promise<PromptParts> {
  return partsOf(await compile(session, after, { role }));
}

/** What another task is told of findings. */
function findings({ facts = [] }: Pick<DispatchReply, 'facts'>): string[] {
  return facts
    .filter(({ relation }) => relation === 'issue' || relation === 'must_fix')
    .map(({ subject, relation, object, severity, fix }) =>
      [severity, subject, relation, object, fix].filter((said) => said !== undefined).join(' | '),
    );
}

describe('a finding', () => {
  const elsewhere = { taskId: '9', maxFacts: 50 };

  it('a finding stays open when another task’s review of the same file finds something, and comes with its fix', async () => {
    const session = newSession('findings');
    const other = reviewed('2', 'needs_changes', { issues: [NIT] });
    const after = await published(session, reviewed('1', 'needs_changes', { issues: [LEAK] }), other);
    expect(findings(await compile(session, after, elsewhere))).toEqual([
      'critical | src/pool.ts | issue | The handle leaks when the query throws | Close the handle in finally',
      'minor | src/pool.ts | issue | Odd name',
    ]);
  });

  it('a finding is replaced by the next review of its task, and closed by an approval', async () => {
    const session = newSession('findings');
    const again = reviewed('1', 'needs_changes', { issues: [{ ...NIT, file: 'src/other.ts' }] });
    const second = await published(session, REVIEW, again);
    expect(findings(await compile(session, second, elsewhere))).toEqual([
      'minor | src/other.ts | issue | Odd name',
    ]);
    const third = await published(session, reviewed('1', 'approved'));
    expect(findings(await compile(session, third, elsewhere))).toEqual([]);
  });

  it('a finding is listed with severity and fix by facts --json', async () => {
    const session = newSession('findings');
    const after = await published(session, REVIEW);
    await compile(session, after);
    const { code, stdout } = await cli(['facts', session, '--json'], { env: { NATS_URL: system.url } });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ object: LEAK.message, severity: 'critical', fix: LEAK.fix }),
    );
  });
});

describe('a reviewer', () => {
  it('a reviewer is told what to review, and on the second round what to check', async () => {
    const session = newSession('reviewer');
    const first = await parts(session, await published(session, WORK), 'reviewer');
    expect(first.packet).toMatchObject({
      summary: 'wrote the pool',
      changed_files: ['src/pool.ts'],
      failing_tests: ['npm test: pool: 3 handles left'],
      passing_tests: ['npm run lint'],
      follow_ups: ['measure it'],
    });
    const fixed = implemented('1', { summary: 'closed it', files_modified: ['src/pool.ts'] });
    const second = await parts(session, await published(session, REVIEW, fixed), 'reviewer');
    expect(second.packet).toMatchObject({
      summary: 'closed it',
      required_fixes: [
        'Close the handle when the query throws (src/pool.ts; fix: Close the handle in finally)',
      ],
      issues: [
        'critical: src/pool.ts: The handle leaks when the query throws (fix: Close the handle in finally)',
        'minor: src/pool.ts: Odd name',
      ],
    });
    expect(second.guide).toMatch(/Check first that the work settles the required fixes and the findings/);
    expect(second.prefix).toContain('assessment (approved | needs_changes | blocked)');
  });
});

describe('an implementer', () => {
  it('an implementer who has to fix something gets the last try, and each fix with its file', async () => {
    const session = newSession('fixes');
    const { packet, guide } = await parts(session, await published(session, WORK, REVIEW), 'implementer');
    expect(packet).toMatchObject({
      required_fixes: [
        'Close the handle when the query throws (src/pool.ts; fix: Close the handle in finally)',
      ],
      changed_files: ['src/pool.ts'],
      failing_tests: ['npm test: pool: 3 handles left'],
    });
    expect(guide).toMatch(/^Guide: Settle the required fixes /);
  });
});

describe('a task', () => {
  const passing = implemented('1', {
    files_modified: ['src/pool.ts'],
    tests: [{ command: 'npm test', passed: true }],
  });

  it('a task with three completed results, passing tests and no reviewer is not stalled', async () => {
    const session = newSession('busy');
    const { replan } = await parts(
      session,
      await published(session, passing, passing, passing),
      'implementer',
    );
    expect(replan).toEqual([]);
  });

  it('a task that is stalled names what repeats and what was tried, in the words of each role', async () => {
    const session = newSession('circles');
    const tries = ['one', 'two', 'three', 'four'].flatMap((summary) => [{ ...passing, summary }, REVIEW]);
    const after = await published(session, ...tries);
    const shown = [
      expect.stringMatching(
        /^- ping_pong \(4 times\), completed, then sent back by a review with .*: Close the handle/,
      ),
      expect.stringMatching(/^- same_fixes \(4 times\), the same fix required again: Close the handle/),
      '- same_files (3 times), the same file changed in try after try: src/pool.ts (3 times)',
      'Tried already, the newest last:',
      expect.stringMatching(/^- completed: one\. Refused by the review: Close the handle/),
      expect.stringMatching(/^- completed: two\. Refused by the review: Close the handle/),
      expect.stringMatching(/^- completed: three\. Refused/),
      expect.stringMatching(/^- completed: four\. Refused/),
    ];
    const [implementers, ...rest] = (await parts(session, after, 'implementer')).replan;
    expect(rest).toEqual(shown);
    expect(implementers).toMatch(/another approach/);
    const [reviewers, ...same] = (await parts(session, after, 'reviewer')).replan;
    expect(same).toEqual(shown);
    expect(reviewers).toMatch(/Approve it if it is settled now/);
  });
});
