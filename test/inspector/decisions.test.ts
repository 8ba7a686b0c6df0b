import { afterAll, describe, expect, it } from 'vitest';
import { fillInspector } from '../../scripts/demo-inspector.mjs';
import { inspectorOfFile, openInspector } from '../support/browser.js';
import { allDealtWith } from '../support/system.js';
import { goTo } from './looks.js';

/** Decisions of an operator in the browser: learnings and rejected results. */
const opened = await inspectorOfFile();
const { page, origin, system } = opened;
await fillInspector(system.client, 'memory');
await allDealtWith(system.ports);
const { client } = system;

const REVIEW = '/learnings?project=throughline';
const rows = page.locator('.review-row');
const proposals = async (status: 'pending' | 'accepted' | 'rejected') =>
  (await client.proposals.list({ project: 'throughline', status })).proposals.map(({ content }) => content);

describe('the review of learnings', () => {
  it('j and k move, one key decides, and u takes it back before anything was sent', async () => {
    await goTo(page, origin, REVIEW);
    const before = await proposals('pending');
    await expect.poll(() => rows.count()).toBe(before.length);
    const current = page.locator('.review-row[aria-current] .review-text');
    for (const [key, place] of [
      ['j', 1],
      ['j', 2],
      ['k', 1],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => current.textContent()).toBe(before[place]);
    }
    await page.keyboard.press('r');
    await page.getByText(`Rejected: ${before[1]}`).first().waitFor();
    expect(await rows.count()).toBe(before.length - 1);
    await page.keyboard.press('u');
    await page.locator('.review-row', { hasText: before[1] ?? '' }).waitFor();
    expect(await current.textContent()).toBe(before[1]);
    expect(await proposals('pending')).toEqual(before);
  });

  it('what was decided is sent when the page is left', async () => {
    const other = await opened.newPage();
    await goTo(other, origin, REVIEW);
    const [first] = await proposals('pending');
    await other
      .getByRole('button', { name: /^(Accept|Keep both)/ })
      .and(other.locator(':enabled'))
      .waitFor();
    await other.keyboard.press('a');
    await other.getByText('Press u to undo').waitFor({ state: 'attached' });
    expect(await proposals('accepted')).not.toContain(first);
    await other.goto(`${origin}/health`);
    await expect.poll(() => proposals('accepted')).toContain(first);
    await other.context().close();
  });

  it('a proposal that says nearly the same as a learning shows it, and is merged into it', async () => {
    await goTo(page, origin, REVIEW);
    await page.locator('.review-row', { hasText: 'all type checks' }).click();
    await page.getByText(/% alike/).waitFor();
    const card = page.getByRole('region', { name: 'The proposal' });
    expect(await card.textContent()).toContain(
      'Run the linter and the type check before a result is published',
    );
    await page.keyboard.press('m');
    await page
      .getByText(/^Merged:/)
      .first()
      .waitFor();
    await page.keyboard.press('u');
  });

  it('a proposal is edited and then accepted', async () => {
    await goTo(page, origin, REVIEW);
    await page.locator('.review-row', { hasText: 'bounded wait' }).click();
    await page.keyboard.press('e');
    await page.getByRole('textbox', { name: /One sentence/ }).fill('Bound every wait of a request');
    await page.keyboard.press('Enter');
    await page.getByText('Accepted: Bound every wait of a request').first().waitFor();
    await page.goto(`${origin}/`);
    await expect.poll(() => proposals('accepted')).toContain('Bound every wait of a request');
  });
});

describe('a rejected result', () => {
  it('a rejected result is mended, sent again, and gone from the list', async () => {
    await goTo(page, origin, '/rejected');
    const row = page.locator('.rejected-row', { hasText: 'done-ish' });
    await row.click();
    const body = page.getByRole('textbox', { name: /^Body/ });
    await body.fill((await body.inputValue()).replace('done-ish', 'completed'));
    await page.getByRole('button', { name: 'Retry with changes' }).click();
    await page.getByText(/published again as result \d+/).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await row.waitFor({ state: 'detached' });
  });

  it('a text that still cannot be read says why and stays', async () => {
    await goTo(page, origin, '/rejected');
    await page.locator('.rejected-row', { hasText: 'marker_missing' }).first().click();
    await page.getByRole('textbox', { name: /^Body/ }).fill('still no JSON');
    await page.getByRole('button', { name: 'Retry with changes' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.locator('.rejected-row[aria-current]').count()).toBe(1);
  });

  it('a rejected result is removed only after a second yes', async () => {
    await goTo(page, origin, '/rejected');
    const before = await page.locator('.rejected-row').count();
    await page.locator('.rejected-row').last().click();
    await page.getByRole('button', { name: 'Remove' }).click();
    expect(await page.locator('.rejected-row').count()).toBe(before);
    await page.getByRole('button', { name: 'Remove for good' }).click();
    await expect.poll(() => page.locator('.rejected-row').count()).toBe(before - 1);
  });
});

describe('a reader', async () => {
  const reading = await openInspector({ system, role: 'reader' });
  afterAll(() => reading.stop());

  it('a reader sees the queue and the rejected results without a button that decides', async () => {
    await goTo(reading.page, reading.origin, REVIEW);
    await reading.page.getByRole('region', { name: 'The proposal' }).waitFor();
    const names = 'Accept|Keep both|Merge|Edit|Reject|Retry|Remove';
    const buttons = reading.page.getByRole('button', { name: new RegExp(`^(${names})`) });
    expect(await buttons.count()).toBe(0);
    const before = await proposals('pending');
    await reading.page.keyboard.press('a');
    await reading.page.keyboard.press('r');
    expect(await rowsOf(reading)).toBe(before.length);
    await goTo(reading.page, reading.origin, '/rejected');
    await reading.page.locator('.rejected-row').first().click();
    await reading.page.locator('.rejected-body pre').waitFor();
    expect(await buttons.count()).toBe(0);
    expect(await reading.page.locator('.rejected-body textarea').count()).toBe(0);
  });
});

async function rowsOf({ page: own }: { readonly page: typeof page }): Promise<number> {
  return own.locator('.review-row').count();
}
