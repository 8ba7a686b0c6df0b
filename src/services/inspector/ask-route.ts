import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { statusOf, ThroughlineError } from '../../contracts/errors.js';
import type { InspectorRole } from '../../contracts/inspector-api.js';
import { PAST_PROMPT_SUBJECT, scopedRequest } from '../../contracts/names.js';
import {
  READING_LEARNINGS,
  READING_REQUESTS,
  READING_TOOLS,
  type ToolName,
  toolSubject,
} from '../../contracts/request-names.js';
import { isLoopbackAddress } from '../../engine/monitoring/known-hosts.js';
import type { Monitoring } from '../../engine/monitoring/monitoring.js';
import { monitoringPage } from '../../engine/monitoring/monitoring-server.js';
import type { LiveTransport } from '../../engine/ports/clients.js';

/** Default size of a NATS message. */
const MAX_BODY = 1024 * 1024;

/** @throws ThroughlineError `too_large` */
export const smallBody = bodyLimit({
  maxSize: MAX_BODY,
  onError(c) {
    // The rest of the body is not read, so the connection cannot be reused.
    c.header('Connection', 'close');
    throw new ThroughlineError('too_large', `the request has more than ${MAX_BODY} bytes: send less`);
  },
});

/** Forwards a request of the page to its service. */
export async function ask(
  c: Context,
  subject: string,
  { transport, role, timeoutMs }: { transport: LiveTransport; role: InspectorRole; timeoutMs: number },
): Promise<Response> {
  const refused = refusedFor(subject, role);
  if (refused !== undefined) throw new ThroughlineError('permission_denied', refused);
  const body = await jsonBody(c);
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

export function errorAnswer(c: Context, fault: ThroughlineError): Response {
  const { code, message, details } = fault;
  const status = statusOf(code) as ContentfulStatusCode;
  return c.json({ error: { code, message, ...(details !== undefined && { details }) } }, status);
}

/** Forwarded requests: reading for everyone, decisions for operators. */
const READING: ReadonlySet<string> = new Set([
  ...READING_TOOLS.map((name: ToolName) => toolSubject(name)),
  ...READING_REQUESTS,
  ...READING_LEARNINGS,
  // A normal compile would be counted and stored as if for an agent.
  PAST_PROMPT_SUBJECT,
]);

const DECIDING: ReadonlySet<string> = new Set([
  ...['proposal.accept', 'proposal.reject', 'learning.edit', 'learning.retract'],
  ...['tool.rejected-retry', 'tool.rejected-remove'],
  ...['tool.blocker-answer', 'tool.fact-retract', 'tool.fact-correct'],
  ...['tool.task-add', 'tool.task-status', 'tool.task-priority', 'tool.task-content'],
  ...['tool.note-add', 'tool.note-edit', 'tool.note-delete', 'tool.inbox-add', 'tool.inbox-mark-read'],
  ...['tool.session-complete', 'tool.session-restart', 'tool.session-archive', 'tool.session-reopen'],
  'tool.session-forget',
]);

/** Returns the reason for not forwarding a request, if any. */
function refusedFor(subject: string, role: InspectorRole): string | undefined {
  if (READING.has(subject)) return undefined;
  if (!DECIDING.has(subject)) return `The inspector does not pass on ${JSON.stringify(subject)}.`;
  if (role === 'operator') return undefined;
  return `This inspector only reads, so it does not pass on ${subject}: start it with --inspector-role operator to decide here.`;
}

const ONLY_HERE =
  'Only this machine gets this without a token: for others start the services with --metrics-port and --metrics-host.\n';

/** Serves monitoring without a token: only to this machine, and not through a proxy. */
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
