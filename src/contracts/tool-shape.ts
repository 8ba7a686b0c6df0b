import { z } from 'zod';
import { TOKEN_PATTERN } from './names.js';

/**
 * Session argument of a tool: required, optional or none. Only tools that require one are served on
 * `tool.<name>.<session>`.
 */
export type ToolScope = 'session' | 'any session' | 'no session';

export const untrimmed = (max: number) => bounded(z.string(), max);
export const text = (max: number) => bounded(z.string().trim(), max);

function bounded(schema: z.ZodString, max: number) {
  return schema.min(1, 'must not be empty').max(max, `must be at most ${max} characters`);
}

/** An integer from `low` to `high`. */
export function between(low: number, high: number) {
  const error = `must be ${low} to ${high}`;
  return z.int().min(low, error).max(high, error);
}

/** Not validated here: making a subject of it does that, with its own error code. */
export const sessionName = z.string().meta({
  description: 'Name of the session, of letters, digits, _ and -.',
  pattern: TOKEN_PATTERN.source,
});

const SESSION_FIELD = {
  session: { session: sessionName },
  'any session': { session: sessionName.optional() },
  'no session': {},
} as const satisfies Readonly<Record<ToolScope, z.ZodRawShape>>;

const entry =
  <const Scope extends ToolScope>(scope: Scope, reads = false) =>
  <const Shape extends z.ZodRawShape>(summary: string, example: string, shape: Shape) => {
    const request = z.object({ ...SESSION_FIELD[scope], ...shape });
    return { scope, reads, summary, example, shape, request, arguments: z.object(shape) };
  };

export const tool = entry('session');
export const toolOfNone = entry('no session');
/** Tools that change nothing: readers may use them. */
export const view = entry('session', true);
export const viewOfAny = entry('any session', true);
export const viewOfNone = entry('no session', true);

export const cursor = text(400).optional().describe('Cursor of the page: next of the previous page.');
export const limit = (most: number, usual: number) =>
  between(1, most).default(usual).describe('Maximum number of entries per page.');
