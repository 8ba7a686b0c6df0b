import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type ServedInspector, type ServedOptions, serveInspected } from './inspector.js';
import { ofFile } from './of-file.js';

/** The browser of the tests: the system's own Chromium, or the one that `CHROMIUM` names. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM || '/usr/bin/chromium';
  if (!existsSync(executablePath)) {
    throw new Error(
      `${executablePath} is missing: install Chromium ("apt-get install chromium"), or name another one in CHROMIUM`,
    );
  }
  // The sandbox refuses to run as root, as in most containers.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args: [...args, '--disable-dev-shm-usage'] });
}

export interface OpenOptions extends ServedOptions {
  /** Size of the window, colours, language and so on. */
  readonly context?: BrowserContextOptions;
}

/** A browser with the inspector of a system: signed in, on its first view. */
export interface OpenInspector extends ServedInspector {
  readonly browser: Browser;
  readonly page: Page;
  /** What the page has complained of: errors, and what the content security policy has refused. */
  readonly problems: readonly string[];
  /** Another page, with cookies of its own; signed in unless `path` brings another token. */
  newPage(context?: BrowserContextOptions, path?: string): Promise<Page>;
}

/** Starts a server, all services, an inspector and a browser. `stop` ends them all. */
export async function openInspector(options: OpenOptions = {}): Promise<OpenInspector> {
  const { context, ...served } = options;
  const inspected = await serveInspected(served);
  let browser: Browser;
  try {
    browser = await launchBrowser();
  } catch (fault) {
    await inspected.stop();
    throw fault;
  }
  const stop = async () => {
    await browser.close();
    await inspected.stop();
  };
  const problems: string[] = [];
  const newPage = async (how: BrowserContextOptions = {}, path = `/?token=${inspected.token}`) => {
    const page = await (await browser.newContext(how)).newPage();
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    await page.goto(inspected.origin + path);
    return page;
  };
  try {
    const page = await newPage(context);
    return { ...inspected, browser, page, problems, newPage, stop, [Symbol.asyncDispose]: stop };
  } catch (fault) {
    await stop();
    throw fault;
  }
}

/** The same for all tests of the file that calls it: stopped after the last of them. */
export function inspectorOfFile(options: OpenOptions = {}): Promise<OpenInspector> {
  return ofFile(openInspector(options));
}
