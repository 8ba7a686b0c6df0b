import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { isLoopbackAddress } from '../../monitoring/known-hosts.js';
import type { Monitoring } from '../../monitoring/monitoring.js';
import { monitoringPage } from '../../monitoring/monitoring-page.js';

const ONLY_HERE =
  'Only this machine gets this without a token: for others start the services with --metrics-port and --metrics-host.\n';

/** What monitoring asks for, which knows no token: for this machine alone, and not for what a proxy on it passes on. */
export async function monitoringAnswer(
  c: Context<{ Bindings: HttpBindings }>,
  monitoring: Monitoring,
): Promise<Response> {
  const address = c.env.incoming?.socket.remoteAddress;
  const isPassedOn = c.req.header('x-forwarded-for') ?? c.req.header('forwarded') ?? c.req.header('via');
  if (address === undefined || !isLoopbackAddress(address) || isPassedOn !== undefined) {
    return c.text(ONLY_HERE, 403);
  }
  const page = await monitoringPage(monitoring, c.req.path);
  if (page === undefined) return c.notFound();
  return new Response(page.body, {
    status: page.status,
    headers: { 'Content-Type': page.type, 'Cache-Control': 'no-store' },
  });
}
