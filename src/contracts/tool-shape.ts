import { z } from 'zod';
import { sessionName } from './session-name.js';

/** What the entries of the table of tools are made of. */

/**
 * Whether a tool works on one session: it must be named, it may be named, or there is none. Only a tool that names its
 * session is answered on `tool.<name>.<session>`.
 */
export type ToolScope = 'session' | 'any session' | 'no session';

export const text = (max: number) =>
  z.string().trim().min(1, 'must not be empty').max(max, `must be at most ${max} characters`);

const SESSION_FIELD = {
  session: { session: sessionName },
  'any session': { session: sessionName.optional() },
  'no session': {},
} as const satisfies Readonly<Record<ToolScope, z.ZodRawShape>>;

/** One tool: what it takes beside the session, what its help says, and whether it works on one session. */
function entry<const Scope extends ToolScope, const Shape extends z.ZodRawShape>(
  scope: Scope,
  summary: string,
  example: string,
  shape: Shape,
) {
  const request = z.object({ ...SESSION_FIELD[scope], ...shape });
  return { scope, summary, example, shape, request, arguments: z.object(shape) };
}

/** A tool of one session. */
export function tool<const Shape extends z.ZodRawShape>(summary: string, example: string, shape: Shape) {
  return entry('session', summary, example, shape);
}

/** A tool of all sessions, or of the one that is named. */
export function toolOfAny<const Shape extends z.ZodRawShape>(summary: string, example: string, shape: Shape) {
  return entry('any session', summary, example, shape);
}

/** A tool that names no session. */
export function toolOfNone<const Shape extends z.ZodRawShape>(
  summary: string,
  example: string,
  shape: Shape,
) {
  return entry('no session', summary, example, shape);
}

/** Where a page begins. */
export const cursor = text(400).optional().describe('Where a page begins: next of the previous page.');
/** Most entries of a page. */
export const limit = (most: number, usual: number) =>
  z
    .int()
    .min(1, `must be 1 to ${most}`)
    .max(most, `must be 1 to ${most}`)
    .default(usual)
    .describe('Most entries of a page.');
