import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { inspectorOfFile } from '../support/browser.js';
import { allDealtWith, newSession, publishWork } from '../support/system.js';
import { goTo } from './looks.js';

/** Counts what an open page requests while agents work. `REQUESTS_SECONDS=60` measures a whole minute and prints it. */
const SECONDS = Number(process.env.REQUESTS_SECONDS ?? 6);
const SESSIONS = 60;
const opened = await inspectorOfFile();
const { origin, system } = opened;
const { client } = system;
const sessions = Array.from({ length: SESSIONS }, (_, n) => newSession(`agent-${n}`));
for (const session of sessions) {
  await publishWork(client, session, '1', { summary: 'x'.repeat(200) });
  for (let n = 0; n < 5; n += 1) await client.tools.taskAdd({ session, content: `Task ${n} of the session` });
}

await allDealtWith(system.ports);

interface Counted {
  count: number;
  readonly subjects: Map<string, number>;
}

async function countedRequests(page: Page): Promise<Counted> {
  const counted: Counted = { count: 0, subjects: new Map() };
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  network.on('Network.requestWillBeSent', ({ request }) => {
    const [, subject] = request.url.split('/api/ask/');
    if (subject === undefined) return;
    counted.count += 1;
    counted.subjects.set(subject, (counted.subjects.get(subject) ?? 0) + 1);
  });
  return counted;
}

/** Five agents that each hand in a result twice a second. */
async function work(): Promise<void> {
  const end = Date.now() + SECONDS * 1000;
  for (let n = 0; Date.now() < end; n += 1) {
    const session = sessions[n % 5] ?? '';
    await publishWork(client, session, `${n % 7}`, { summary: `step ${n}` });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe('an open page', () => {
  for (const [name, path, most] of [
    ['the first page', '/', 3],
    ['the overview of a session', `/s/${sessions[0]}`, 4],
  ] as const)
    it(`${name} loads once, and asks each thing at most every two seconds while agents work`, async () => {
      const page = await opened.newPage();
      await page.goto('about:blank');
      const counted = await countedRequests(page);
      await goTo(page, origin, path);
      await page.waitForTimeout(1500);
      const atFirst = counted.count;
      counted.subjects.clear();
      await work();
      const during = Math.max(...counted.subjects.values());
      if (process.env.REQUESTS_SECONDS !== undefined)
        console.log(name, { atFirst, during }, Object.fromEntries(counted.subjects));
      await page.context().close();
      expect.soft(atFirst).toBeLessThanOrEqual(most);
      expect(during).toBeGreaterThan(0);
      expect(during).toBeLessThanOrEqual(SECONDS / 2 + 1);
    });

  it('a hidden page has no stream, and shows what happened meanwhile once it is visible again', async () => {
    const page = await opened.newPage();
    await goTo(page, origin, `/s/${sessions[0]}`);
    await expect.poll(() => opened.inspector.watching()).toBe(2);
    const become = (state: string) =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    await become('hidden');
    await expect.poll(() => opened.inspector.watching()).toBe(1);
    await publishWork(client, sessions[0] ?? '', 'while-hidden', { summary: 'Here' }, { wait: true });
    await become('visible');
    await page.getByText('while-hidden').first().waitFor();
    await page.context().close();
  });

  it('the facts of a session are asked for again after a result, and not after a task', async () => {
    const [session = ''] = sessions;
    const page = await opened.newPage();
    const counted = await countedRequests(page);
    await goTo(page, origin, `/s/${session}`);
    await page.waitForTimeout(2500);
    const asked = () => counted.subjects.get('tool.fact-find') ?? 0;
    const atFirst = asked();
    await client.tools.taskAdd({ session, content: 'No fact' });
    await page.waitForTimeout(1000);
    expect(asked() - atFirst).toBe(0);
    const facts = [{ subject: 'x', relation: 'decided', object: 'A fact of its own' }];
    await publishWork(client, session, '9', { facts });
    await page.getByText('A fact of its own').first().waitFor();
    expect(asked() - atFirst).toBe(1);
    await page.context().close();
  });
});
