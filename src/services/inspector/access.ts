import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

/**
 * Access to the inspector: opening its URL with the token sets a cookie, which scripts cannot read and other sites cannot send.
 */
export interface AccessOptions {
  readonly token: string;
  /** Unique per port, because the ports of a host share cookies. */
  readonly cookieName: string;
}

/** Requires the token. Answers 401 without it, as JSON below `/api/`. */
export function signedIn({ token, cookieName }: AccessOptions): MiddlewareHandler {
  return async (c, next) => {
    const url = new URL(c.req.url);
    const given = url.searchParams.get('token');
    if (given !== null && c.req.method === 'GET' && !isApi(url.pathname)) {
      if (!isSame(given, token)) return c.html(refusalPage(WRONG_TOKEN), 401);
      const secure = c.req.header('x-forwarded-proto') === 'https';
      setCookie(c, cookieName, token, { httpOnly: true, sameSite: 'Strict', path: '/', secure });
      url.searchParams.delete('token');
      // Exactly one slash: two would name another host.
      return c.redirect(`/${url.pathname.replace(/^\/+/, '')}${url.search}`);
    }
    const cookie = getCookie(c, cookieName);
    if (cookie !== undefined && isSame(cookie, token)) return next();
    if (isApi(url.pathname)) {
      return c.json({ error: { code: 'unauthorized', message: NO_TOKEN } }, 401);
    }
    // A cross-site navigation does not send the cookie; a reload by this page does.
    if (c.req.header('sec-fetch-site') === 'cross-site') return c.html(OPEN_AGAIN, 401);
    // An existing cookie holds the token of an earlier start.
    return c.html(refusalPage(cookie === undefined ? NO_TOKEN : WRONG_TOKEN), 401);
  };
}

function isApi(path: string): boolean {
  return path.startsWith('/api/');
}

/** Compares in constant time. */
function isSame(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const NO_TOKEN =
  'This browser has no token yet. Run `throughline open`, or open the URL that `throughline up` has printed.';
const WRONG_TOKEN =
  'The token is wrong, or that of an earlier start. Run `throughline open`, or open the URL that the latest `throughline up` or `throughline admin serve` has printed.';

const HEAD =
  '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Throughline</title>';
const OPEN_AGAIN = `${HEAD}<meta http-equiv="refresh" content="0">`;

function refusalPage(why: string): string {
  return `${HEAD}<h1>Throughline</h1><p>${why.replace(/`([^`]+)`/g, '<code>$1</code>')}</p>`;
}

/**
 * The host names of a local HTTP server. A foreign site can resolve its own name to this machine (DNS rebinding), and would
 * then be same-origin with the server in the browser.
 */
export interface KnownHosts {
  /** Names besides those of this machine, without a port. */
  readonly names: readonly string[];
  /** True if it listens to other machines: these may use its IP address, which no site can rebind. */
  readonly isOpen: boolean;
}

export function knownHosts(host: string, names: readonly string[] = []): KnownHosts {
  const all = [host, ...names].map((name) => name.toLowerCase());
  return { names: all, isOpen: !isLoopback(host) };
}

function isKnownHost(header: string | undefined, { names, isOpen }: KnownHosts): boolean {
  const name = hostName(header);
  return name !== undefined && (isLoopback(name) || names.includes(name) || (isOpen && isIP(name) !== 0));
}

/** Returns the host name or address of a Host header, lower-cased and without the port. */
function hostName(header: string | undefined): string | undefined {
  if (header === undefined || !URL.canParse(`http://${header}`)) return undefined;
  return new URL(`http://${header}`).hostname.replace(/^\[|\]$/g, '');
}

/** True for a loopback name or address, including IPv4-mapped IPv6. */
function isLoopback(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1') return true;
  return /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** Rejects foreign Host headers (DNS rebinding). */
export function knownHost(hosts: KnownHosts): MiddlewareHandler {
  return async (c, next) => {
    const header = c.req.header('host');
    if (isKnownHost(header, hosts)) return next();
    const message = `The inspector does not know the host ${JSON.stringify(hostName(header) ?? '')}: open it by its address, or start it with --inspector-name and that host.`;
    return c.json({ error: { code: 'permission_denied', message } }, 403);
  };
}

/** Rejects cross-site requests (CSRF) by `Sec-Fetch-Site`, or `Origin` for old browsers; a request with neither is rejected. */
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

/** Ignores the scheme: a proxy may terminate TLS. */
function isOfHost(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host.toLowerCase();
}

/** Allows nothing foreign, nothing inline, and no embedding. */
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

export const securityHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
};
