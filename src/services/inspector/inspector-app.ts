import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { compress } from 'hono/compress';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { statusOf, systemCode, ThroughlineError } from '../../contracts/errors.js';
import type { InspectorMe, InspectorRole } from '../../contracts/inspector-api.js';
import { scopedRequest } from '../../contracts/names.js';
import { REQUEST_NAMES, type RequestName, rowOf } from '../../contracts/requests.js';
import type { LiveTransport } from '../../engine/ports/client-transport.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import { LIVE_PATH } from '../../shared/wire-words.js';
import { type KnownHosts, knownHost, securityHeaders, signedIn } from './access.js';
import type { LiveFeed } from './live-feed.js';

interface InspectorParts {
  readonly token: string;
  readonly transport: LiveTransport;
  readonly role: InspectorRole;
  readonly user: string;
  readonly hosts: KnownHosts;
  readonly feed: LiveFeed;
  readonly timeoutMs: number;
  readonly page: string | undefined;
  readonly logger: Logger;
}

export function inspectorApp(parts: InspectorParts): Hono {
  const { transport, role, user, feed, logger } = parts;
  const app = new Hono();
  app.use(securityHeaders);
  app.use(knownHost(parts.hosts));
  app.use('/api/*', signedIn(parts.token));
  app.get('/api/me', (c) => {
    const { server } = transport;
    return c.json<InspectorMe>({ server, user, decides: role === 'operator' });
  });
  app.post('/api/ask/:subject', smallBody, (c) => ask(c, c.req.param('subject'), parts));
  app.get(LIVE_PATH, (c) =>
    c.body(feed.open(), 200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // Prevents nginx from buffering the stream.
      'X-Accel-Buffering': 'no',
    }),
  );
  app.all('/api/*', () => {
    throw new ThroughlineError('not_found', 'the inspector has no such path below /api');
  });
  app.get('*', compress(), (c) => pageFile(c, parts.page));
  app.onError((error, c) => {
    const fault =
      error instanceof ThroughlineError
        ? error
        : new ThroughlineError('internal', 'a fault in the inspector');
    const { code, message, details } = fault;
    if (code === 'internal') logger.error({ err: error, code }, 'a request of the inspector failed');
    const answer = { error: { code, message, ...(details !== undefined && { details }) } };
    return c.json(answer, statusOf(code) as ContentfulStatusCode);
  });
  return app;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};
/** File names contain a content hash. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const NOT_BUILT =
  'The page of the inspector is missing from this installation: build it with "npm run build".';

/** Serves a file below `/assets/`, or the page itself for any path of a view. */
async function pageFile(c: Context, dir: string | undefined): Promise<Response> {
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

/** Default size of a NATS message. */
const MAX_BODY = 1024 * 1024;

/** @throws ThroughlineError `too_large` */
const smallBody = bodyLimit({
  maxSize: MAX_BODY,
  onError(c) {
    // The rest of the body is not read, so the connection cannot be reused.
    c.header('Connection', 'close');
    throw new ThroughlineError('too_large', `the request has more than ${MAX_BODY} bytes: send less`);
  },
});

async function ask(
  c: Context,
  subject: string,
  { transport, role, timeoutMs }: { transport: LiveTransport; role: InspectorRole; timeoutMs: number },
): Promise<Response> {
  const refused = refusedFor(subject, role);
  if (refused !== undefined) throw new ThroughlineError('permission_denied', refused);
  const body = {
    ...(await jsonBody(c)),
    ...('person' in rowOf(subject as RequestName).shape && { person: true }),
  };
  const reply = await transport.request(scopedRequest(subject, body), body, timeoutMs);
  return c.json(reply as object);
}

async function jsonBody(c: Context): Promise<object> {
  const body: unknown = await c.req.json().catch((fault: unknown) => {
    if (fault instanceof ThroughlineError) throw fault;
    return undefined;
  });
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new ThroughlineError('json_parse_failed', 'the body is not a JSON object: send one, at least {}');
}

/** Forwarded requests: reading for everyone, decisions for operators. */
const READING: ReadonlySet<string> = new Set(REQUEST_NAMES.filter((name) => rowOf(name).reads));

const DECIDING: ReadonlySet<string> = new Set([
  ...['proposal.accept', 'proposal.reject', 'learning.propose', 'learning.retract'],
  ...['tool.rejected-retry', 'tool.rejected-remove'],
  ...['tool.blocker-answer', 'tool.fact-retract', 'tool.fact-correct', 'tool.fact-restore'],
  ...['tool.task-add', 'tool.task-status', 'tool.task-priority'],
  ...['tool.note-add', 'tool.inbox-add', 'tool.inbox-mark-read'],
  ...['tool.session-complete', 'tool.session-restart', 'tool.session-archive', 'tool.session-reopen'],
  ...['tool.fact-erase', 'tool.session-forget'],
]);

function refusedFor(subject: string, role: InspectorRole): string | undefined {
  if (READING.has(subject)) return undefined;
  if (!DECIDING.has(subject)) return `The inspector does not pass on ${JSON.stringify(subject)}.`;
  if (role === 'operator') return undefined;
  return `This inspector only reads, so it does not pass on ${subject}: start it with --inspector-role operator to decide here.`;
}
