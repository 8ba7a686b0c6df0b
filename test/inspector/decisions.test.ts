import { describe, expect, it } from 'vitest';
import { fillInspector } from '../../scripts/demo-inspector.mjs';
import { inspectorOfFile, openInspector } from '../support/browser.js';
import { ofFile } from '../support/of-file.js';
import { allDealtWith } from '../support/system.js';
import { goTo } from './looks.js';

/** Decisions of an operator in the browser: learnings and rejected results. */
const opened = await inspectorOfFile();
const { page, origin, system } = opened;
await fillInspector(system.client, 'memory');
await allDealtWith(system.ports);
const { client } = system;

const REVIEW = '/learnings?project=throughline';
const row = (text: string) => page.locator('.learning', { hasText: text });
const proposals = async (status: 'pending' | 'accepted' | 'rejected') =>
  (await client.proposals.list({ project: 'throughline', status })).proposals.map(({ content }) => content);

const rejected = (text: string) =>
  page
    .getByRole('listitem')
    .filter({ has: page.locator('.tag-bad', { hasText: 'rejected' }) })
    .filter({ hasText: text });

describe('the review of learnings', () => {
  it('the list shows every pending proposal, and one click accepts or rejects it, or takes that back', async () => {
    await goTo(page, origin, REVIEW);
    const before = await proposals('pending');
    await expect.poll(() => page.locator('.learning').count()).toBe(before.length);
    const second = before.find((text) => text.includes('bounded wait')) ?? '';
    const first = before.find((text) => text !== second && !text.includes('all type checks')) ?? '';
    const texts = () => page.locator('.learning > :first-child').allTextContents();
    const shown = await texts();
    for (const [verb, as] of [
      ['Accept', 'accepted'],
      ['Reject', 'rejected'],
    ] as const) {
      await row(first).getByRole('button', { name: verb }).press('Enter');
      await row(first).getByText(`${verb}ed.`).waitFor();
      expect(await proposals(as)).toContain(first);
      await row(first).getByRole('button', { name: 'Take it back' }).press('Enter');
      await row(first).getByRole('button', { name: verb }).waitFor();
      expect(await proposals('pending')).toContain(first);
      expect(await texts()).toEqual(shown);
    }
    await row(second).getByRole('button', { name: 'Accept' }).click();
    await row(second).getByText('Accepted.').waitFor();
    expect(await proposals('accepted')).toContain(second);
    await page.getByRole('button', { name: 'Active' }).click();
    await row(second).waitFor();
  });

  it('a proposal that says nearly the same as a learning says so, and is merged into it or kept beside it', async () => {
    await goTo(page, origin, REVIEW);
    const alike = row('all type checks');
    await alike.getByRole('button', { name: 'Accept' }).click();
    const said = 'Run the linter and the type check before a result is published';
    await alike.getByRole('alert').filter({ hasText: said }).waitFor();
    await alike.getByRole('button', { name: 'Keep both' }).waitFor();
    await alike.getByRole('button', { name: 'Merge' }).click();
    await alike.getByText('Merged.').waitFor();
    const accepted = await client.proposals.list({ project: 'throughline', status: 'accepted' });
    expect(accepted.proposals.find(({ content }) => content.includes('all type checks'))).toHaveProperty(
      'mergedInto',
    );
  });
});

describe('a rejected result', () => {
  it('a rejected result is mended, sent again, and gone from the list', async () => {
    await goTo(page, origin, '/');
    const mended = page.getByRole('listitem').filter({ hasText: 'done-ish' });
    await mended.getByRole('button', { name: /^Open/ }).click();
    const body = page.getByRole('textbox', { name: /^Body/ });
    await body.fill((await body.inputValue()).replace('done-ish', 'completed'));
    await page.getByRole('button', { name: 'Retry with changes' }).click();
    await page.getByText(/published again as result \d+/).waitFor();
    await goTo(page, origin, '/');
    await rejected('marker_missing').first().waitFor();
    expect(await mended.count()).toBe(0);
  });

  it('a text that still cannot be read says why and stays', async () => {
    await goTo(page, origin, '/s/memory');
    await rejected('marker_missing').first().getByRole('button', { name: /^Open/ }).click();
    await page.getByRole('textbox', { name: /^Body/ }).fill('still \u202eno JSON');
    await page.locator('.rejected-body pre').getByText('still \\u202eno JSON').waitFor();
    await page.getByRole('button', { name: 'Retry with changes' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('textbox', { name: /^Body/ }).inputValue()).toBe('still \u202eno JSON');
  });

  it('a rejected result is removed only after a second yes', async () => {
    await goTo(page, origin, '/');
    const before = (await client.tools.rejectedList({})).total;
    await rejected('').last().getByRole('button', { name: /^Open/ }).click();
    await page.getByRole('button', { name: 'Remove' }).click();
    expect((await client.tools.rejectedList({})).total).toBe(before);
    await page.getByRole('button', { name: 'Yes, remove' }).click();
    await page.getByText('It is removed.').waitFor();
    expect((await client.tools.rejectedList({})).total).toBe(before - 1);
  });
});

describe('a reader', async () => {
  const reading = await ofFile(openInspector({ system, role: 'reader' }));

  it('a reader sees the proposals and the rejected results without a button that decides', async () => {
    await goTo(reading.page, reading.origin, REVIEW);
    const before = await proposals('pending');
    await expect.poll(() => reading.page.locator('.learning').count()).toBe(before.length);
    const names = 'Accept|Keep both|Merge|Reject|Retry|Remove';
    const buttons = reading.page.getByRole('button', { name: new RegExp(`^(${names})`) });
    expect(await buttons.count()).toBe(0);
    await goTo(reading.page, reading.origin, '/s/memory');
    await reading.page.getByRole('button', { name: /^Open/ }).first().click();
    await reading.page.locator('.rejected-body pre').waitFor();
    expect(await buttons.count()).toBe(0);
    expect(await reading.page.locator('.rejected-body textarea').count()).toBe(0);
  });
});
