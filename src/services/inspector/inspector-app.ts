import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { ThroughlineError } from '../../contracts/errors.js';
import type { InspectorMe, InspectorRole } from '../../contracts/inspector-api.js';
import { token } from '../../contracts/names.js';
import type { KnownHosts } from '../../engine/monitoring/known-hosts.js';
import type { Monitoring } from '../../engine/monitoring/monitoring.js';
import { MONITORING_PATHS } from '../../engine/monitoring/monitoring-server.js';
import type { LiveTransport, Logger } from '../../engine/ports/clients.js';
import { VERSION } from '../../version.js';
import { type AccessOptions, knownHost, sameOrigin, securityHeaders, signedIn } from './access.js';
import { activity, factsAnywhere } from './activity.js';
import { ask, errorAnswer, monitoringAnswer, smallBody } from './ask-route.js';
import type { HealthHistory } from './health-history.js';
import type { LiveFeed } from './live-feed.js';
import { pageFile } from './page-files.js';

interface InspectorParts extends AccessOptions {
  readonly transport: LiveTransport;
  readonly role: InspectorRole;
  readonly hosts: KnownHosts;
  readonly feed: LiveFeed;
  readonly history: HealthHistory;
  readonly timeoutMs: number;
  readonly page: string | undefined;
  readonly monitoring?: Monitoring | undefined;
  readonly logger: Logger;
}

/** Builds the HTTP application; middleware runs in this order. */
export function inspectorApp(parts: InspectorParts): Hono<{ Bindings: HttpBindings }> {
  const { transport, role, feed, history, logger } = parts;
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use(securityHeaders);
  app.use(knownHost(parts.hosts));
  const { monitoring } = parts;
  if (monitoring !== undefined) {
    for (const path of MONITORING_PATHS) app.get(path, (c) => monitoringAnswer(c, monitoring));
  }
  app.use(signedIn(parts));
  app.use(sameOrigin);
  app.get('/api/me', (c) => {
    const may = role === 'operator';
    const me: InspectorMe = {
      version: VERSION,
      role,
      server: transport.server,
      may: { decide: may, retry: may },
    };
    return c.json(me);
  });
  app.post('/api/ask/:subject', smallBody, (c) => ask(c, c.req.param('subject'), parts));
  app.get('/api/health-history', (c) => c.json(history.reply));
  app.get('/api/activity', async (c) =>
    c.json(await activity(transport, new URL(c.req.url).searchParams, parts.timeoutMs)),
  );
  app.get('/api/facts', async (c) =>
    c.json(await factsAnywhere(transport, c.req.query('text') ?? '', parts.timeoutMs)),
  );
  app.get('/api/live', (c) => {
    const named = c.req.query('session');
    const session = named === undefined ? undefined : token(named, 'session');
    return c.body(feed.open(session), 200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // Prevents nginx from buffering the stream.
      'X-Accel-Buffering': 'no',
    });
  });
  app.all('/api/*', () => {
    throw new ThroughlineError('not_found', 'the inspector has no such path below /api');
  });
  app.get('*', (c) => pageFile(c, parts.page));
  app.onError((error, c) => {
    const fault =
      error instanceof ThroughlineError
        ? error
        : new ThroughlineError('internal', 'a fault in the inspector');
    if (fault.code === 'internal')
      logger.error({ err: error, code: fault.code }, 'a request of the inspector failed');
    return errorAnswer(c, fault);
  });
  return app;
}
