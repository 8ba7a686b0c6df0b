import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Records what a page must never do with texts of agents: open dialogs, load foreign resources, break the policy. */
export function watchedFor(page: Page, origin: string): string[] {
  const seen: string[] = [];
  page.on('dialog', (dialog) => {
    seen.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) seen.push(`request: ${url}`);
  });
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy/.test(message.text()))
      seen.push(message.text());
  });
  page.on('pageerror', (error) => seen.push(`fault: ${error}`));
  page.on('popup', (popup) => seen.push(`popup: ${popup.url()}`));
  return seen;
}

/** Goes to a view of the open page and waits until it has what it asked for. */
export async function goTo(page: Page, origin: string, address: string): Promise<void> {
  await page.goto(origin + address);
  await page.locator('main h1').waitFor();
  await expect.poll(() => page.locator('main .loading').count()).toBe(0);
}
