import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pages, ROOT } from '../../scripts/docs/pages.js';
import { watchedFor } from '../inspector/looks.js';
import { seriousFindings } from '../support/accessibility.js';
import { launchBrowser } from '../support/browser.js';
import { folderOfFile } from '../support/of-file.js';

/** The static site of the docs: built, served from a folder of a host, and read in a real browser. */

const run = promisify(execFile);
const FOLDER = '/some/folder/';
const TYPES = {
  html: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  png: 'image/png',
  svg: 'image/svg+xml',
};
const built = await folderOfFile();
let html: ReadonlyMap<string, string>;
let browser: Browser;
let server: Server;
let origin: string;

beforeAll(async () => {
  await run(process.execPath, ['scripts/site/main.mjs', built], { cwd: ROOT });
  const names = (await readdir(built, { recursive: true })).filter((name) => name.endsWith('.html'));
  const texts = names.map(async (name) => [name, await readFile(join(built, name), 'utf8')] as const);
  html = new Map(await Promise.all(texts));
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  server?.close();
});

/** Answers with a file of the site. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '';
  const type = Object.entries(TYPES).find(([ending]) => path.endsWith(`.${ending}`))?.[1] ?? 'text/plain';
  const file = path.startsWith(FOLDER) ? join(built, path.slice(FOLDER.length)) : '';
  const body = await readFile(file).catch(() => undefined);
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body);
}

function targetOf(path: string): string {
  return path.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html');
}

function attributes(text: string, name: string): string[] {
  return [...text.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value);
}

describe('the site of the docs', () => {
  it('the site has every page, and each of them in its navigation', () => {
    const wanted = pages().map(({ path }) => targetOf(path));
    expect(wanted.filter((path) => !html.has(path))).toEqual([]);
    const navigation = html.get('index.html')?.split('<nav')[1]?.split('</nav>')[0] ?? '';
    const listed = attributes(navigation, 'href').map((href) => posix.normalize(href));
    const besides = ['index.html', 'docs/index.html'];
    expect(wanted.filter((path) => !listed.includes(path) && !besides.includes(path))).toEqual([]);
  });

  it('the site has no dead link, and loads nothing from elsewhere', async () => {
    const files = new Set(await readdir(built, { recursive: true }));
    const dead = [...html].flatMap(([path, text]) =>
      [...attributes(text, 'href'), ...attributes(text, 'src')].filter((link) => {
        if (/^(https?|data):/.test(link)) return attributes(text, 'src').includes(link);
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? path : posix.join(posix.dirname(path), file);
        if (!files.has(target)) return true;
        return anchor !== undefined && !attributes(html.get(target) ?? '', 'id').includes(anchor);
      }),
    );
    expect(html.size).toBeGreaterThan(100);
    expect(dead).toEqual([]);
  });

  it('a reader finds a page by a word from it, in a folder of a host, and no other host is asked', async () => {
    const page = await browser.newPage();
    const seen = watchedFor(page, origin + FOLDER.slice(0, -1));
    await page.goto(`${origin}${FOLDER}docs/concepts.html`);

    await page.keyboard.press('/');
    await page.keyboard.type('xyzzyx');
    await page.getByText('Nothing has “xyzzyx”.').waitFor();
    await page.getByRole('searchbox').fill('not_caught_up');
    await page.locator('.results a').first().click();
    await page.locator('main #not_caught_up').waitFor();
    expect(page.url()).toBe(`${origin}${FOLDER}docs/reference/errors.html#not_caught_up`);
    expect(await page.title()).toBe('Error codes · Throughline');

    for (const path of ['index.html', 'docs/contributing/index.html']) {
      await page.goto(origin + FOLDER + path);
      expect(await seriousFindings(page), path).toEqual([]);
    }
    expect(seen).toEqual([]);
  });

  it('the longest pages fit a narrow window, where a button opens the list of pages', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 700 } });
    const longest = pages().toSorted((a, b) => b.text.length - a.text.length);
    for (const { path } of longest.slice(0, 12)) {
      await page.goto(origin + FOLDER + targetOf(path));
      const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(wider, path).toBeLessThanOrEqual(0);
    }
    await page.getByRole('button', { name: 'All pages' }).click();
    await page.getByRole('link', { name: 'Run a plan' }).click();
    await page.waitForURL(/run-a-plan\.html$/);
  });
});
