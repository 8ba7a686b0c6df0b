import type { MiddlewareHandler } from 'hono';
import { hostName, isKnownHost, type KnownHosts } from '../../monitoring/known-hosts.js';

/** Refuses names that are not the inspector's. */
export function knownHost(hosts: KnownHosts): MiddlewareHandler {
  return async (c, next) => {
    const header = c.req.header('host');
    if (isKnownHost(header, hosts)) return next();
    const message = `The inspector does not know the host ${JSON.stringify(hostName(header) ?? '')}: open it by its address, or start it with --inspector-name and that host.`;
    return c.json({ error: { code: 'permission_denied', message } }, 403);
  };
}
