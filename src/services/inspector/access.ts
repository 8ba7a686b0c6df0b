import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { hostName, isKnownHost, type KnownHosts } from '../../engine/monitoring/known-hosts.js';

/**
 * Who may see the inspector: anyone who opens it with its token, once. After that a cookie holds the token, which scripts
 * cannot read and other sites cannot send.
 */
export interface AccessOptions {
  readonly token: string;
  /** Cookies of one host are shared by all its ports: each inspector has a name of its own. */
  readonly cookieName: string;
}

/** Lets those through that have the token. Answers any others: 401, as JSON below `/api/`. */
export function signedIn({ token, cookieName }: AccessOptions): MiddlewareHandler {
  return async (c, next) => {
    const url = new URL(c.req.url);
    const given = url.searchParams.get('token');
    if (given !== null && c.req.method === 'GET' && !isApi(url.pathname)) {
      if (!isSame(given, token)) return c.html(refusalPage(WRONG_TOKEN), 401);
      const secure = c.req.header('x-forwarded-proto') === 'https';
      setCookie(c, cookieName, token, { httpOnly: true, sameSite: 'Strict', path: '/', secure });
      url.searchParams.delete('token');
      // One slash alone: two would name another host.
      return c.redirect(`/${url.pathname.replace(/^\/+/, '')}${url.search}`);
    }
    const cookie = getCookie(c, cookieName);
    if (cookie !== undefined && isSame(cookie, token)) return next();
    if (isApi(url.pathname)) {
      return c.json({ error: { code: 'unauthorized', message: NO_TOKEN } }, 401);
    }
    // A link on another site brings no cookie along: asked for again by this page, it comes.
    if (c.req.header('sec-fetch-site') === 'cross-site') return c.html(OPEN_AGAIN, 401);
    // A cookie that is there holds the token of an earlier start.
    return c.html(refusalPage(cookie === undefined ? NO_TOKEN : WRONG_TOKEN), 401);
  };
}

function isApi(path: string): boolean {
  return path.startsWith('/api/');
}

/** Takes the same time however much of the token is right. */
function isSame(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const NO_TOKEN =
  'Open the URL with the token that `throughline up` has printed: this browser has not opened it yet.';
const WRONG_TOKEN =
  'The token is wrong, or that of an earlier start. Open the URL that the latest `throughline up` or `throughline admin serve` has printed; `throughline up --detach` prints that of a running one again.';

function refusalPage(why: string): string {
  const text = why.replace(/`([^`]+)`/g, '<code>$1</code>');
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Throughline</title><h1>Throughline</h1><p>${text}</p>`;
}

const OPEN_AGAIN =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Throughline</title><meta http-equiv="refresh" content="0">';

/** Refuses names that are not the inspector's. */
export function knownHost(hosts: KnownHosts): MiddlewareHandler {
  return async (c, next) => {
    const header = c.req.header('host');
    if (isKnownHost(header, hosts)) return next();
    const message = `The inspector does not know the host ${JSON.stringify(hostName(header) ?? '')}: open it by its address, or start it with --inspector-name and that host.`;
    return c.json({ error: { code: 'permission_denied', message } }, 403);
  };
}

/**
 * Refuses what another site has made the browser send. A browser says so by `Sec-Fetch-Site`, an old one by `Origin`
 * alone; who says neither is refused as well.
 */
export const sameOrigin: MiddlewareHandler = async (c, next) => {
  if (SAFE.has(c.req.method)) return next();
  const site = c.req.header('sec-fetch-site');
  const isOwn =
    site === undefined ? isOfHost(c.req.header('origin'), c.req.header('host')) : site === 'same-origin';
  if (isOwn) return next();
  const message = 'The request comes from another site: only the inspector’s own page may send it.';
  return c.json({ error: { code: 'permission_denied', message } }, 403);
};

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Whatever the scheme: a proxy may speak TLS where we do not. */
function isOfHost(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host.toLowerCase();
}

/** Nothing is loaded from elsewhere, nothing inline is run, and no other site may show or read the page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** On every answer, refusals included. */
export const securityHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
};
