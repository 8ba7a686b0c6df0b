// One picture of each view of the inspector, for the docs: starts everything on a recorded session, and writes
// docs/images/inspector-*.png. Needs a build, and Chromium.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { connectThroughline } from '../dist/index.js';
import { fillInspector, fillStalled } from './demo-inspector.mjs';
import { countOrExit, optionsOrExit } from './options.mjs';

const BIN = fileURLToPath(new URL('../dist/cli/bin.cjs', import.meta.url));
const IMAGES = fileURLToPath(new URL('../docs/images', import.meta.url));
const SESSION = 'memory';
const LARGEST = 200_000;

const { values: options } = optionsOrExit('screenshots', {
  options: {
    out: { type: 'string', default: IMAGES },
    width: { type: 'string', default: '1280' },
    dark: { type: 'boolean', default: false },
    /** A URL with its token that `throughline up` printed: what is there is shown, and nothing is started. */
    url: { type: 'string' },
  },
});
const width = countOrExit('screenshots', 'width', options.width);

/** What each picture shows: its address, and what is done before it is taken. */
const VIEWS = {
  sessions: ['/'],
  session: [`/s/${SESSION}`],
  timeline: [`/s/${SESSION}/timeline`],
  prompt: [`/s/${SESSION}/prompt`, pointAtFinding],
  statement: [`/s/${SESSION}`, openStatement],
  learnings: ['/learnings?project=throughline'],
};

async function openStatement(page) {
  await page.locator('.statement', { hasText: 'after' }).first().click();
  await page.locator('.fact-says').waitFor();
}

async function pointAtFinding(page) {
  const line = page.locator('.prompt-line', { hasText: 'required fix' });
  await ((await line.count()) > 0 ? line : page.locator('.prompt-line-linked')).first().click();
}

const started = options.url === undefined ? await start() : undefined;
try {
  await pictures(options.url ?? started.url);
} finally {
  await started?.stop();
}

async function start() {
  const store = await mkdtemp(join(tmpdir(), 'throughline-pictures-'));
  const up = spawn(
    process.execPath,
    [BIN, 'up', '--port', '4933', '--store', store, '--inspector-port', '0'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const stop = async () => {
    up.kill('SIGTERM');
    if (up.exitCode === null) await once(up, 'exit');
    await rm(store, { recursive: true, force: true });
  };
  let server;
  for await (const line of createInterface({ input: up.stdout })) {
    server ??= /^throughline ready (\S+)/.exec(line)?.[1];
    const url = /^inspector (\S+)/.exec(line)?.[1];
    if (url === undefined || server === undefined) continue;
    up.stdout.resume();
    const client = await connectThroughline({ url: server });
    await fillStalled(client);
    await fillInspector(client, SESSION);
    await client.close();
    return { url, stop };
  }
  throw new Error('throughline up ended before it was ready');
}

async function pictures(url) {
  await mkdir(options.out, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const page = await browser.newPage({
    viewport: { width, height: width < 640 ? 780 : 760 },
    colorScheme: options.dark ? 'dark' : 'light',
  });
  await page.goto(url);
  for (const [name, [address, prepare]] of Object.entries(VIEWS)) {
    // What is needed and the sessions are to be seen at once, and so are a prompt's parts and the line that is pointed at.
    const height = ['sessions', 'prompt'].includes(name) ? 960 : 760;
    if (width >= 640) await page.setViewportSize({ width, height });
    await page.goto(new URL(address, url).href);
    await page.locator('main h1').waitFor();
    await page.waitForLoadState('load');
    await page.waitForTimeout(700);
    await prepare?.(page);
    if (name === 'prompt') await page.evaluate(() => scrollTo(0, 0));
    await page.waitForTimeout(300);
    const path = join(options.out, `inspector-${name}.png`);
    await page.screenshot({ path });
    const { size } = await stat(path);
    console.log(`${path} ${Math.round(size / 1000)} kB`);
    if (size > LARGEST) process.exitCode = 1;
  }
  await browser.close();
}
