import { z } from 'zod';
import { sessionName } from './session-name.js';

/**
 * Whether a tool requires a session, accepts one, or has none. Only the first kind is served on
 * `tool.<name>.<session>`.
 */
export type ToolScope = 'session' | 'any session' | 'no session';

export const text = (max: number) =>
  z.string().trim().min(1, 'must not be empty').max(max, `must be at most ${max} characters`);

const SESSION_FIELD = {
  session: { session: sessionName },
  'any session': { session: sessionName.optional() },
  'no session': {},
} as const satisfies Readonly<Record<ToolScope, z.ZodRawShape>>;

function entry<const Scope extends ToolScope, const Shape extends z.ZodRawShape>(
  scope: Scope,
  summary: string,
  example: string,
  shape: Shape,
) {
  const request = z.object({ ...SESSION_FIELD[scope], ...shape });
  return { scope, summary, example, shape, request, arguments: z.object(shape) };
}

export function tool<const Shape extends z.ZodRawShape>(summary: string, example: string, shape: Shape) {
  return entry('session', summary, example, shape);
}

export function toolOfAny<const Shape extends z.ZodRawShape>(summary: string, example: string, shape: Shape) {
  return entry('any session', summary, example, shape);
}

export function toolOfNone<const Shape extends z.ZodRawShape>(
  summary: string,
  example: string,
  shape: Shape,
) {
  return entry('no session', summary, example, shape);
}

export const cursor = text(400).optional().describe('Where a page begins: next of the previous page.');
export const limit = (most: number, usual: number) =>
  z
    .int()
    .min(1, `must be 1 to ${most}`)
    .max(most, `must be 1 to ${most}`)
    .default(usual)
    .describe('Most entries of a page.');
