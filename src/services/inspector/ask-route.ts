import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { statusOf } from '../../contracts/error-status.js';
import { ThroughlineError } from '../../contracts/errors.js';
import type { InspectorRole } from '../../contracts/inspector-api.js';
import { scopedRequest } from '../../contracts/names.js';
import type { LiveTransport } from '../../ports/live-transport.js';
import { refusedFor } from './askable.js';

/** As much as one message of a server may hold by default. */
const MAX_BODY = 1024 * 1024;

/** @throws ThroughlineError `too_large` */
export const smallBody = bodyLimit({
  maxSize: MAX_BODY,
  onError(c) {
    // What is left of the body is not read: the connection is of no more use.
    c.header('Connection', 'close');
    throw new ThroughlineError('too_large', `the request has more than ${MAX_BODY} bytes: send less`);
  },
});

/** Passes a request of the page on to its service, and the answer back. */
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

/** Any fault as the page gets it. */
export function errorAnswer(c: Context, fault: ThroughlineError): Response {
  const { code, message, details } = fault;
  const status = statusOf(code) as ContentfulStatusCode;
  return c.json({ error: { code, message, ...(details !== undefined && { details }) } }, status);
}
