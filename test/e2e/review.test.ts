import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectThroughline } from '../../src/index.js';
import type { ThroughlineClient } from '../../src/sdk/throughline-client.js';
import { cli, startUp, type Up } from '../support/cli.js';
import { type OnTerminal, onTerminal, PTY_MISSING } from '../support/pty.js';
import { newSession, soon, startSystem } from '../support/system.js';

/** `throughline learning review` on a real terminal, against the running system. */

const CTRL_C = '\u0003';
const CTRL_U = '\u0015';
const QUESTION = '[q]uit > ';
const TEXTS = [
  'Run the linter before you hand in',
  'Parsers need a test for empty input',
  'Name errors after what went wrong',
  'Keep migrations apart from features',
];

let up: Up;
let client: ThroughlineClient;
beforeAll(async () => {
  up = await startUp();
  client = await connectThroughline({ url: up.url });
});
afterAll(async () => {
  await client.close();
  await up.stop();
});

/** A project with proposals of these texts. */
async function proposed(...texts: readonly string[]) {
  const project = newSession('review');
  const ids: string[] = [];
  for (const content of texts) ids.push((await client.learnings.propose({ project, content })).proposal.id);
  const statuses = async () => {
    const { proposals } = await client.proposals.list({ project, status: 'all' });
    return texts.map((_, index) => proposals.find(({ id }) => id === ids[index])?.status);
  };
  return { project, ids, statuses };
}

function review(project: string, ...more: string[]): Promise<OnTerminal> {
  return onTerminal(['learning', 'review', '--project', project, '--by', 'anna', ...more], {
    NATS_URL: up.url,
  });
}

describe.skipIf(PTY_MISSING !== undefined)(
  `a review on a terminal${PTY_MISSING === undefined ? '' : ` (skipped: ${PTY_MISSING})`}`,
  () => {
    it('a review takes one letter for each decision, and sends it at once', async () => {
      const { project, ids, statuses } = await proposed(...TEXTS);
      await using terminal = await review(project);
      await terminal.shows(`(1/4) ${ids[0]?.slice(0, 5)}  insight  0.50  manual`);
      await terminal.shows(
        `  ${TEXTS[0]}\n  evidence: none\n[a]ccept  [r]eject  [e]dit  [s]kip  ${QUESTION}`,
      );
      terminal.type('a\r');
      await terminal.shows('accepted\n');
      await terminal.shows(QUESTION);
      expect(await statuses()).toEqual(['accepted', 'pending', 'pending', 'pending']);
      terminal.type('R\r');
      await terminal.shows('rejected\n');
      await terminal.shows('(3/4)');
      await terminal.shows(QUESTION);
      terminal.type('x\r');
      await terminal.shows('type one of a, r, e, s, q');
      await terminal.shows(QUESTION);
      terminal.type('s\r');
      await terminal.shows('skipped, still pending');
      await terminal.shows(QUESTION);
      terminal.type('e\r');
      await terminal.shows(`text (empty: as it was): ${TEXTS[3]}`);
      terminal.type(`${CTRL_U}Keep migrations apart\r`);
      await terminal.shows('(4/4)');
      await terminal.shows('  Keep migrations apart\n');
      await terminal.shows(QUESTION);
      terminal.type('a\r');
      await terminal.shows('-- 2 accepted, 1 rejected, 1 edited, 1 skipped; 1 still pending');
      const { code, before, after } = await terminal.ended();
      expect(code).toBe(0);
      expect(after).toBe(before);
      expect(await statuses()).toEqual(['accepted', 'rejected', 'pending', 'accepted']);
      const { learnings } = await client.learnings.list({ project });
      expect(learnings.map(({ content }) => content)).toEqual(['Keep migrations apart', TEXTS[0]]);
      const decided = await client.proposals.show({ project, id: ids[1] ?? '' });
      expect(decided.proposal).toMatchObject({ status: 'rejected', decidedBy: 'anna' });
    });

    it('a review offers to merge a near-duplicate or to keep both, and adds it by no other letter', async () => {
      const { project, ids, statuses } = await proposed(
        'Run the linter before you hand in',
        'Run the linter always before you hand in',
        'Run the linter and the formatter before you hand in',
      );
      await client.proposals.accept({ project, id: ids[0] ?? '' });
      await using terminal = await review(project);
      await terminal.shows(
        /a learning says nearly the same: \w{5} \(0\.\d\d\) Run the linter before you hand in\n/,
      );
      await terminal.shows('[m]erge  [b]oth  [r]eject');
      terminal.type('a\r');
      await terminal.shows('type one of m, b, r, e, s, q');
      await terminal.shows(QUESTION);
      expect(await statuses()).toEqual(['accepted', 'pending', 'pending']);
      terminal.type('m\r');
      await terminal.shows(`merged into ${ids[0]?.slice(0, 5)}`);
      await terminal.shows(QUESTION);
      terminal.type('b\r');
      await terminal.shows('accepted, both kept');
      expect((await terminal.ended()).code).toBe(0);
      const { learnings } = await client.learnings.list({ project });
      expect(learnings.map(({ id }) => id)).toEqual([ids[2], ids[0]]);
    });

    it('a review sees a near-duplicate that another person has accepted meanwhile', async () => {
      const { project, ids, statuses } = await proposed(
        'Run the linter before you hand in',
        'Run the linter always before you hand in',
      );
      await using terminal = await review(project);
      await terminal.shows('[a]ccept');
      await client.proposals.accept({ project, id: ids[1] ?? '' });
      terminal.type('a\r');
      await terminal.shows(/says nearly the same \(0\.88\): .*\(near_duplicate\)\n/);
      await terminal.shows(`(1/2) ${ids[0]?.slice(0, 5)}`);
      await terminal.shows(`a learning says nearly the same: ${ids[1]?.slice(0, 5)} (0.88)`);
      await terminal.shows('[m]erge  [b]oth');
      expect(await statuses()).toEqual(['pending', 'accepted']);
      terminal.type('m\r');
      await terminal.shows('-- 1 merged, 1 decided meanwhile; 0 still pending');
      expect((await terminal.ended()).code).toBe(0);
    });

    it('a review says what another person has decided meanwhile, and goes on', async () => {
      const { project, ids, statuses } = await proposed(...TEXTS.slice(0, 3));
      await using terminal = await review(project);
      await terminal.shows(QUESTION);
      await client.proposals.reject({ project, id: ids[0] ?? '', by: 'bob' });
      await client.proposals.accept({ project, id: ids[1] ?? '', by: 'eve' });
      terminal.type('a\r');
      await terminal.shows(`${ids[0]?.slice(0, 5)} was decided meanwhile: rejected by bob at `);
      await terminal.shows(`${ids[1]?.slice(0, 5)} was decided meanwhile: accepted by eve at `);
      await terminal.shows('(3/3)');
      await terminal.shows(QUESTION);
      terminal.type('r\r');
      await terminal.shows('-- 1 rejected, 2 decided meanwhile; 0 still pending');
      expect((await terminal.ended()).code).toBe(0);
      expect(await statuses()).toEqual(['rejected', 'accepted', 'rejected']);
    });

    it('a review drops what was typed before their proposal was shown', async () => {
      const { project, statuses } = await proposed(...TEXTS.slice(0, 3));
      await using terminal = await review(project);
      await terminal.shows(QUESTION);
      terminal.type('a\ra\ra\r');
      await terminal.shows('(2/3)');
      await terminal.shows(QUESTION);
      expect(await statuses()).toEqual(['accepted', 'pending', 'pending']);
      terminal.type('q\r');
      await terminal.shows('-- 1 accepted; 2 still pending');
      expect((await terminal.ended()).code).toBe(0);
    });

    it.each([
      ['Ctrl-C at a question', 130, (terminal: OnTerminal) => terminal.type(CTRL_C)],
      [
        'Ctrl-C in the editor',
        130,
        async (terminal: OnTerminal) => {
          terminal.type('e\r');
          await terminal.shows('text (empty: as it was): ');
          terminal.type(`half a sen${CTRL_C}`);
        },
      ],
      ['SIGINT', 130, (terminal: OnTerminal) => terminal.signal('SIGINT')],
      ['SIGTERM', 143, (terminal: OnTerminal) => terminal.signal('SIGTERM')],
      ['SIGHUP', 129, (terminal: OnTerminal) => terminal.signal('SIGHUP')],
    ])('a review is left in order by %s', async (_how, exitCode, interrupt) => {
      const { project, statuses } = await proposed(...TEXTS.slice(0, 3));
      await using terminal = await review(project, '--json');
      await terminal.shows(QUESTION);
      terminal.type('a\r');
      await terminal.shows('(2/3)');
      await terminal.shows(QUESTION);
      await interrupt(terminal);
      await terminal.shows('-- 1 accepted; 2 still pending\n');
      await terminal.shows('{"accepted":1,"merged":0,"rejected":0,"edited":0,"skipped":0,"elsewhere":0}\n');
      const { code, before, after } = await terminal.ended();
      expect(code).toBe(exitCode);
      expect(after).toBe(before);
      expect(await statuses()).toEqual(['accepted', 'pending', 'pending']);
    });

    it('a review ends with its terminal', async () => {
      const { project, statuses } = await proposed(...TEXTS.slice(0, 2));
      await using terminal = await review(project);
      await terminal.shows(QUESTION);
      terminal.type('a\r');
      await terminal.shows('(2/2)');
      terminal.hangUp();
      await soon(() => expect(terminal.running()).toBe(false));
      expect(await statuses()).toEqual(['accepted', 'pending']);
    });

    it('a review writes nothing of a proposal that the terminal would act on', async () => {
      await using system = await startSystem({ only: [] });
      const hostile = 'begin\u001b]0;owned\u0007\u001b[2J\u009b8m\u202egnp\u200bend';
      const evidence = [{ session: hostile, dispatch: 1, task: hostile }];
      const proposal = {
        id: 'abcdef012345',
        type: hostile,
        content: hostile,
        tags: [hostile],
        method: hostile,
        source: { session: hostile, note: hostile },
        evidence,
        extractedAt: '2026-01-01T00:00:00.000Z',
        status: 'pending',
      };
      const similar = { learning: hostile, content: hostile, similarity: 0.9 };
      const answers: Record<string, object> = {
        'proposal.list': { project: hostile, proposals: [proposal], total: 1, sequence: 1 },
        'proposal.show': { project: hostile, proposal, learning: null, similar, sequence: 1 },
        'proposal.accept': {
          project: hostile,
          proposal: { ...proposal, mergedInto: hostile },
          learning: null,
          similar,
          sequence: 2,
        },
      };
      for (const [subject, reply] of Object.entries(answers))
        system.ports.connection.subscribe(subject, {
          callback: (_, message) => void message.respond(JSON.stringify(reply)),
        });
      await system.ports.connection.flush();
      await using terminal = await onTerminal(['learning', 'review', '--json'], { NATS_URL: system.url });
      await terminal.shows(QUESTION);
      terminal.type('m\r');
      await terminal.shows('1 merged');
      await terminal.ended();
      for (const unsafe of ['\u001b]', '\u001b[2J', '\u009b', '\u202e', '\u200b'])
        expect(terminal.written()).not.toContain(unsafe);
      expect(terminal.written()).toContain('begin');
    });

    it('a review ends at once in a project without proposals', async () => {
      await using terminal = await review(newSession('empty'));
      await terminal.shows(/-- project empty-\d+ has no pending proposals: nothing to review/);
      expect((await terminal.ended()).code).toBe(0);
    });
  },
);

describe('a review without a terminal', () => {
  it('a review without a terminal is a usage error that names the other commands', async () => {
    const refused = await cli(['learning', 'review'], { env: { NATS_URL: up.url }, input: 'aaa' });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/"learning accept ID" and "learning reject ID" \(usage\)\n$/);
  });
});
