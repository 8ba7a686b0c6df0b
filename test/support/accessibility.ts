import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

/** What axe finds on a page that is serious or worse, each as one line; both in light and in dark. */
export async function seriousFindings(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(AXE);
    const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run()');
    for (const { id, impact, nodes } of violations) {
      if (impact !== 'serious' && impact !== 'critical') continue;
      found.push(
        ...nodes.map(({ target, failureSummary }) => `${colorScheme} ${id} ${target}: ${failureSummary}`),
      );
    }
  }
  await page.emulateMedia({ colorScheme: null });
  return found;
}
