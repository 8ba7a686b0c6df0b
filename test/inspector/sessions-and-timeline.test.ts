import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { Shutdown } from '../../src/engine/runtime/shutdown.js';
import { serveInspector } from '../../src/services/inspector/serve-inspector.js';
import { inspectorOfFile } from '../support/browser.js';
import { startPrivateNats } from '../support/nats-server.js';
import { ofFile } from '../support/of-file.js';
import { appendRecorded, appendResults } from '../support/recorded-sessions.js';
import { soon } from '../support/soon.js';
import { allDealtWith, publishWire } from '../support/system.js';

/** The views of sessions, one session and its timeline, in a real browser on a real server. */

const EVENTS = 2_000;
const nats = await ofFile(startPrivateNats());
const opened = await inspectorOfFile({ nats });
const { page, origin, system, problems } = opened;
const { client } = system;
await appendRecorded(system, 'recorded');
await appendResults(system, 'long', EVENTS);
// The first list folds all of these: on a busy machine that takes longer than one request may.
await soon(() => client.tools.sessionList({}));

const go = (path: string) => page.goto(origin + path);
const rows = () => page.getByRole('list', { name: 'Timeline, the newest first' }).getByRole('listitem');
const list = page.getByRole('region', { name: 'Sessions', exact: true });
const inList = (name: string) => list.getByRole('link', { name });
const words = page.getByLabel('Words', { exact: true });
const publish = (session: string, task_id: string, summary: string) =>
  publishWire(client, 'implementer', session, { task_id, status: 'completed', summary });

let told = 0;
/** Returns the problems of the page since the last call. */
const newProblems = () => {
  const since = problems.slice(told);
  told = problems.length;
  return since;
};
afterEach(() => {
  expect(newProblems()).toEqual([]);
});

describe('the view of the sessions', () => {
  it('the sessions stand in the list with their progress, and what fits the filter stays after a reload', async () => {
    await go('/');
    await inList('recorded').waitFor();
    await words.fill('recor');
    await page.waitForURL(`${origin}/?text=recor`);
    await inList('long').waitFor({ state: 'detached' });
    await page.reload();
    await inList('recorded').waitFor();
    expect(await words.inputValue()).toBe('recor');
    expect(await inList('long').count()).toBe(0);
  });

  it('a session that begins while one looks comes into the list by itself, and a stalled one is named first with the reason', async () => {
    await go('/');
    await inList('recorded').waitFor();
    for (let round = 0; round < 4; round++) {
      await publishWire(client, 'reviewer', 'stuck', {
        task_id: 'TAS-1',
        assessment: 'needs_changes',
        required_fixes: ['Handle a header in the past'],
      });
    }
    const needs = page.getByRole('region', { name: 'Needs you' });
    const stuck = needs.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'stuck' }) });
    await stuck.getByText('stalled', { exact: true }).waitFor();
    expect(await stuck.textContent()).toContain('TAS-1');
  });

  it('the list shows one project, the newest session first, and those that fit the words', async () => {
    for (const [session, project, done] of [
      ['apples', 'orchard', 0],
      ['pears', 'orchard', 2],
      ['plums', 'garden', 1],
    ] as const) {
      await client.tools.sessionOpen({ session, project });
      for (let n = 0; n < 3; n += 1) {
        const { task } = await client.tools.taskAdd({ session, content: `Task ${n}` });
        if (n < done) await client.tools.taskStatus({ session, id: task.id, status: 'completed' });
      }
    }
    const questions = [{ text: 'May the quince be grafted?' }];
    await publishWire(client, 'implementer', 'pears', { task_id: '9', status: 'blocked', questions });
    await allDealtWith(system.ports);
    await go('/');
    await page.getByLabel('Project').fill('orchard');
    await page.keyboard.press('Enter');
    await inList('plums').waitFor({ state: 'detached' });
    const names = () => list.locator('.row-link').allTextContents();
    await expect.poll(names).toEqual(['pears', 'apples']);
    const begin = new Date('2030-01-01T00:00').toISOString();
    const asked = page.waitForRequest((request) => request.postData()?.includes(begin) === true);
    await go('/?since=2030-01-01');
    await asked;
    await go('/');
    await inList('recorded').waitFor();
    await words.focus();
    await page.keyboard.type('quince grafted');
    await expect.poll(names).toEqual(['pears']);
  });
});

describe('the view of a session', () => {
  it('plan, board and other results are one list, open ones first, and what is done is folded', async () => {
    await go('/s/recorded');
    const work = page.getByRole('region', { name: 'Work' });
    const open = await work.getByRole('listitem').count();
    await work.getByRole('button', { name: /^\d+ done$/ }).click();
    await expect.poll(() => work.getByRole('listitem').count()).toBeGreaterThan(open);
    expect(await page.locator('.command').count()).toBe(0);
  });

  it('a stalled task is shown with the reason, the evidence on demand, and a way to its results', async () => {
    await go('/s/stuck');
    const attention = page.getByRole('region', { name: /Needs you/ });
    await attention.getByRole('button', { name: 'Show the evidence' }).click();
    await attention.getByRole('term').filter({ hasText: 'required fixes' }).waitFor();
    expect(await attention.textContent()).not.toContain('ledger.');
    await attention.getByRole('link', { name: 'its results: task TAS-1' }).click();
    await page.waitForURL(`${origin}/s/stuck/timeline?task=TAS-1`);
    await expect.poll(() => rows().count()).toBe(4);
  });

  it('an archived session is nothing else, and says how it is opened again', async () => {
    await publish('finished', '1', 'Done');
    await client.tools.noteAdd({ session: 'finished', content: 'Use CRLF', type: 'decision' });
    await allDealtWith(system.ports);
    await client.tools.sessionArchive({ session: 'finished' });
    await go('/s/finished');
    await page.getByText('It rejects results until it is reopened').waitFor();
    expect(await page.locator('.page-head').textContent()).toBe('finishedarchivedReopenMore');
    await page.locator('.statement').first().click();
    await page.locator('.fact-says').waitFor();
    expect(await page.getByRole('button', { name: /^(Answer|Retract|Correct|Erase|Add)/ }).count()).toBe(0);
  });

  it('a session of a goal alone, or of nothing, shows no empty list, and what to do first', async () => {
    await client.tools.sessionOpen({ session: 'begun', goal: 'Serve the metrics' });
    await go('/s/begun');
    await page.getByText('add a first task').waitFor();
    await page.getByLabel('Say something to later agents').waitFor();
    expect(await page.locator('h2').allTextContents()).toEqual([]);
    await go('/s/nothing-here');
    await page.getByText('No session has this name').waitFor();
    expect(await page.getByText('throughline task add --session nothing-here').count()).toBe(1);
  });
});

describe('the view of a timeline', () => {
  it('kind, task and failure filter the rows, stand in the address and stay after a reload', async () => {
    await go('/s/long/timeline');
    await page.getByRole('button', { name: 'Failed only' }).click();
    await page.getByRole('button', { name: 'Results' }).click();
    await page.getByLabel('Task').fill('TAS-15');
    await page.waitForURL(`${origin}/s/long/timeline?failed=1&kind=result&task=TAS-15`);
    await soon(async () => {
      const texts = await rows().allTextContents();
      expect(texts.length).toBeGreaterThan(0);
      expect(texts.filter((text) => !(text.includes('TAS-15') && text.includes('needs changes')))).toEqual(
        [],
      );
    });
    const before = await rows().first().textContent();
    await page.reload();
    await expect.poll(() => rows().first().textContent()).toBe(before);
    expect(await page.getByRole('button', { name: 'Results' }).getAttribute('aria-pressed')).toBe('true');
  });

  it('a row opens its result, with the way to what holds of its task', async () => {
    await publish('opened', 'TAS-9', 'Wrote the lexer');
    await go('/s/opened/timeline');
    await rows().first().waitFor();
    // A screen reader reads its parts as words of their own.
    expect(await rows().first().textContent()).toMatch(/ result TAS-9 .*Wrote the lexer \d+ facts?/);
    await rows().first().getByRole('link').focus();
    await page.keyboard.press('Enter');
    const details = page.getByRole('region', { name: 'Details of the entry' });
    await details.getByText('Wrote the lexer').first().waitFor();
    expect(await details.getByRole('link', { name: 'What holds of TAS-9' }).getAttribute('href')).toBe(
      '/s/opened?text=TAS-9',
    );
    await page.keyboard.press('Escape');
    await details.waitFor({ state: 'detached' });
  });

  it('a compiled prompt becomes a row above the result it reflects', async () => {
    await publish('prompted', 'TAS-1', 'Wrote the parser');
    await allDealtWith(system.ports);
    await go('/s/prompted/timeline');
    await rows().first().waitFor();
    await client.compile({
      kind: 'dispatch',
      session: 'prompted',
      taskId: 'TAS-1',
      role: 'reviewer',
      taskPrompt: 'Review the parser',
    });
    const kinds = page.locator('.entry-kind');
    await expect.poll(() => kinds.allTextContents()).toEqual(['prompt', 'result']);
    // The size appears once.
    expect((await rows().first().textContent())?.match(/tokens/g)).toHaveLength(1);
  });

  it('a reader further down keeps the place when results come in, and older entries load at the end', async () => {
    await go('/s/long/timeline');
    await rows().first().waitFor();
    await page.evaluate('scrollTo(0, 900)');
    const inSight = () =>
      page.evaluate<string>('document.elementFromPoint(500, 500).closest("li").textContent');
    await soon(async () => expect(await inSight()).toMatch(/\w/));
    const before = await inSight();
    await appendResults(system, 'long', 3, EVENTS + 1);
    await expect.poll(() => rows().first().textContent()).toContain(`Result ${EVENTS + 3}`);
    expect(await inSight()).toBe(before);
    const known = await rows().count();
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await expect.poll(() => rows().count()).toBeGreaterThan(known);
  });

  it('a published result is on the screen within 100 ms, half of the time', async () => {
    await publish('fast', 'TAS-1', 'The first');
    await go('/s/fast/timeline');
    await rows().first().waitFor();
    await page.evaluate(`
      globalThis.seen = {};
      new MutationObserver(() => requestAnimationFrame(() => {
        for (const [mark] of document.querySelector('main').textContent.matchAll(/mark-\\d+-\\d+;/g)) seen[mark] ??= Date.now();
      })).observe(document.querySelector('main'), { childList: true, subtree: true, characterData: true });
      true`);
    // On a machine that is busy with other tests one round may be slow; three in a row are not by chance.
    const rounds: number[] = [];
    for (let round = 0; round < 3 && !rounds.some((p50) => p50 < 100); round++) {
      const times: number[] = [];
      for (let each = 0; each < 15; each++) {
        const mark = `mark-${round}-${each};`;
        const began = Date.now();
        await publish('fast', 'TAS-1', mark);
        const shown = () => page.evaluate<number | null>(`seen['${mark}'] ?? null`);
        times.push(
          (await soon(async () => {
            const at = await shown();
            if (at === null) throw new Error(`${mark} is not on the screen`);
            return at;
          })) - began,
        );
      }
      rounds.push(times.sort((a, b) => a - b)[7] ?? Number.NaN);
      console.log(
        `from publish to the row on the screen: p50 ${rounds.at(-1)} ms, longest ${times.at(-1)} ms`,
      );
    }
    expect(Math.min(...rounds)).toBeLessThan(100);
  });
});

describe('the page', () => {
  it('the first key press reaches a link that skips the header', async () => {
    await go('/');
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
  });

  it('the page says when NATS is gone, and shows what happened meanwhile once it is back', async () => {
    await publish('away', 'TAS-1', 'Before the break');
    await go('/s/away/timeline');
    await rows().first().waitFor();
    await nats.kill();
    await page.getByText('has lost its NATS server').waitFor();
    await nats.restart();
    await page.getByText('has lost its NATS server').waitFor({ state: 'detached' });
    await soon(() => publish('away', 'TAS-1', 'After the break'));
    await expect.poll(() => rows().first().textContent()).toContain('After the break');
    // While it was gone, the browser has told of requests that failed.
    newProblems();
  });
});

describe('an inspector that is stopped', () => {
  it('the page keeps what it shows, says so, and goes on by itself once the inspector is back', async () => {
    const context = {
      config: { ...system.config, inspectorToken: 'a-token-for-the-test' },
      logger: silentLogger,
    };
    const first = new Shutdown();
    const { url, port } = await serveInspector(
      system.url,
      { ...context, shutdown: first },
      { role: 'reader', port: 0 },
    );
    await page.goto(url);
    await inList('recorded').waitFor();
    await first.release(5_000);
    await page.getByText('The inspector cannot be reached').first().waitFor();
    expect(await inList('recorded').count()).toBe(1);
    // The banner says it once for every view.
    await page.getByRole('link', { name: 'Learnings' }).click();
    await page.waitForTimeout(1_000);
    expect(await page.getByRole('alert').count()).toBe(0);
    const second = new Shutdown();
    try {
      await serveInspector(system.url, { ...context, shutdown: second }, { role: 'reader', port });
      await page.getByText('The inspector cannot be reached').waitFor({ state: 'detached' });
      const proposals = page.getByRole('list', { name: 'Proposals' });
      await proposals.or(page.getByText('Nothing to review')).waitFor({ timeout: 4_000 });
      await page.getByRole('link', { name: 'Sessions' }).click();
      await publish('born-after-the-break', 'TAS-1', 'Here');
      await page.getByRole('link', { name: 'born-after-the-break' }).waitFor();
    } finally {
      await second.release(5_000);
      // While it was gone, the browser has told of requests that failed.
      newProblems();
    }
  });
});
