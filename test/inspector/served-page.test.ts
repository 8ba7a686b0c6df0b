import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { inspectorOfFile } from '../support/browser.js';

/** The built page in a real browser. */
const opened = await inspectorOfFile();
const { page, problems, origin } = opened;

describe('the built page', () => {
  it('the token leaves the address once the page is open, and the page shows without a problem', async () => {
    await page.locator('h1').first().waitFor();
    expect(page.url()).toBe(`${origin}/`);
    expect(problems).toEqual([]);
  });

  it('the script that the page loads at once is at most 90 KB when compressed', async () => {
    const html = await (await opened.fetch('/')).text();
    const paths = [...html.matchAll(/(?:modulepreload" href|module" src)="([^"]+)"/g)];
    const bodies = await Promise.all(
      paths.map(async ([, path]) => (await opened.fetch(`${path}`)).arrayBuffer()),
    );
    const bytes = bodies.reduce((sum, body) => sum + gzipSync(new Uint8Array(body)).length, 0);
    console.log(`the page's first script: ${(bytes / 1024).toFixed(1)} KB compressed`);
    expect(paths.length).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(90 * 1024);
  });
});
