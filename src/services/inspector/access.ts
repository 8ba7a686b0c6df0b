import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { LIVE_PATH, TOKEN_HEADER } from '../../shared/wire-words.js';

/**
 * Requires the token of the URL that `throughline open` prints. The page holds it in the storage of its origin and not in a cookie,
 * which a browser sends to every port of a host, so to any program that serves a page on this machine.
 */
export function signedIn(token: string): MiddlewareHandler {
  return async (c, next) => {
    // An EventSource sends no headers.
    const given = c.req.header(TOKEN_HEADER) ?? (c.req.path === LIVE_PATH ? c.req.query('token') : undefined);
    if (given !== undefined && timingSafeEqual(digest(given), digest(token))) return next();
    return c.json({ error: { code: 'unauthorized', message: NO_TOKEN } }, 401);
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const NO_TOKEN =
  'This browser has no valid token. Run "throughline open", or open the URL that the latest "throughline up" or "throughline admin serve" has printed.';

/** Host names of a local server: a foreign site that resolves its name here (DNS rebinding) would be same-origin. */
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

/** Returns the host name or address of a Host header, lower-cased and without the port; empty for none. */
function hostName(header = ''): string {
  if (!URL.canParse(`http://${header}`)) return '';
  return new URL(`http://${header}`).hostname.replace(/^\[|\]$/g, '');
}

/** True for a loopback name or address, including IPv4-mapped IPv6. */
function isLoopback(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1') return true;
  return /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** Rejects foreign Host headers (DNS rebinding). */
export function knownHost({ names, isOpen }: KnownHosts): MiddlewareHandler {
  return async (c, next) => {
    const name = hostName(c.req.header('host'));
    if (isLoopback(name) || names.includes(name) || (isOpen && isIP(name) !== 0)) return next();
    const message = `The inspector does not know the host ${JSON.stringify(name)}: open it by its address, or start it with --inspector-name and that host.`;
    return c.json({ error: { code: 'permission_denied', message } }, 403);
  };
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
