import type { MiddlewareHandler } from 'hono';

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
