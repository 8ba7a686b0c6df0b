import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
    await page.reload();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
  });

  it('a page on another port of this machine neither gets the token nor reads what the inspector answers', async () => {
    const heard: string[] = [];
    const other = createServer((request, response) => {
      heard.push(JSON.stringify([request.url, request.headers]));
      response.setHeader('content-type', 'text/html').end('<h1>Another</h1>');
    });
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const { port } = other.address() as AddressInfo;
    const tab = await page.context().newPage();
    await tab.goto(`http://127.0.0.1:${port}/`);
    const read = (path: string) =>
      fetch(path, { credentials: 'include' }).then(
        () => 'read',
        () => 'refused',
      );
    expect(await tab.evaluate(read, `${origin}/api/me`)).toBe('refused');
    expect(heard.length).toBeGreaterThan(0);
    expect(heard.join()).not.toContain(opened.token);
    await tab.close();
    other.close();
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
