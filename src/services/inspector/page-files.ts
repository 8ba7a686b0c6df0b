import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Context } from 'hono';
import { systemCode } from '../../contracts/errors.js';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};
/** File names contain a content hash. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const NOT_BUILT =
  'The page of the inspector is missing from this installation: build it with "npm run build".';

/** Serves a file below `/assets/`, or the page itself for any path of a view. */
export async function pageFile(c: Context, dir: string | undefined): Promise<Response> {
  if (dir === undefined) return c.text(NOT_BUILT, 503);
  const { pathname } = new URL(c.req.url);
  const [, asset] = /^\/assets\/([\w.-]+)$/.exec(pathname) ?? [];
  const type = asset === undefined ? undefined : TYPES[extname(asset)];
  if (asset !== undefined && type !== undefined) {
    const bytes = await bytesOf(join(dir, 'assets', asset));
    if (bytes === undefined) return c.notFound();
    return c.body(bytes, 200, { 'Content-Type': type, 'Cache-Control': FOR_EVER });
  }
  // A session name in the path may contain dots: the page reports invalid ones.
  if (pathname.includes('.') && !pathname.startsWith('/s/')) return c.notFound();
  const html = await bytesOf(join(dir, 'index.html'));
  if (html === undefined) return c.text(NOT_BUILT, 503);
  return c.body(html, 200, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' });
}

async function bytesOf(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
