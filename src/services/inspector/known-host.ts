import { isIP } from 'node:net';
import type { MiddlewareHandler } from 'hono';

/**
 * Refuses names that are not the inspector's. A foreign site can point a name of its own at this machine, and would then
 * pass for the inspector's own page in the browser.
 *
 * @param hosts the names it has beside those of this machine, without a port
 * @param isOpen whether it listens to other machines: these may call it by its address, which no site can take
 */
export function knownHost(hosts: readonly string[], isOpen: boolean): MiddlewareHandler {
  const known = new Set(hosts.map((host) => host.toLowerCase()));
  return async (c, next) => {
    const name = hostName(c.req.header('host'));
    if (name !== undefined && (isLoopbackName(name) || known.has(name) || (isOpen && isIP(name) !== 0))) {
      return next();
    }
    const message = `The inspector does not know the host ${JSON.stringify(name ?? '')}: open it by its address, or start it with --inspector-name and that host.`;
    return c.json({ error: { code: 'permission_denied', message } }, 403);
  };
}

/** The name or address of a Host header, in lower case and without its port. */
function hostName(header: string | undefined): string | undefined {
  if (header === undefined || !URL.canParse(`http://${header}`)) return undefined;
  return new URL(`http://${header}`).hostname.replace(/^\[|\]$/g, '');
}

/** Names and addresses of this very machine. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name);
}

/** Also as an IPv6 socket shows an IPv4 address. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}
