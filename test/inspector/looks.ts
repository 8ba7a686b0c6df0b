import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[];
}

/** What axe finds serious or critical on the page as it is, each as one line. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // The page's policy lets no script in but its own; the browser's debugger may all the same.
  await page.evaluate(AXE);
  const violations = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  )) as readonly Violation[];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

/** What a page must never do with texts of agents: open dialogs, load anything from elsewhere, break the policy. */
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
