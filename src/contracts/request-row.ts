import { z } from 'zod';
import { TOKEN_PATTERN } from './names.js';

/** Rows of the registry of requests. Those that require a session are also served on `<subject>.<session>`. */
export type RequestScope = 'session' | 'any session' | 'project' | 'no session';

export const untrimmed = (max: number) => bounded(z.string(), max);
export const text = (max: number) => bounded(z.string().trim(), max);

function bounded(schema: z.ZodString, max: number) {
  return schema.min(1, 'must not be empty').max(max, `must be at most ${max} characters`);
}

export function between(low: number, high: number) {
  const error = `must be ${low} to ${high}`;
  return z.int().min(low, error).max(high, error);
}

/** One item or a list of them; the value is a list. */
export const oneOrMore = <Item extends z.ZodType<string>>(item: Item, most: number) =>
  z.union([
    item.transform((one) => [one]),
    z.array(item).min(1, 'must name at least one').max(most, `must name at most ${most}`),
  ]);

/** Set by the command line at a terminal and by the page. No argument of an agent's tool sets it. */
export const person = z.literal(true).optional().describe('A person does, and not an agent or a program.');

/** Required where no agent decides. */
export const decides = z.literal(true).describe('A person decides it, and not an agent or a program.');

/** Who speaks: without `person` the name is what an agent or a program claims. */
export const speaker = (does: string) => ({ by: text(128).optional().describe(`Who ${does}.`), person });

export const flag = z.boolean().default(false);
export const cursor = text(400).optional().describe('Cursor of the page: next of the previous page.');
export const limit = (most: number, usual: number) =>
  between(1, most).default(usual).describe('Maximum number of entries per page.');

const DAY = z.regexes.date.source.slice(0, -1);
const DAY_OR_TIME = new RegExp(`${DAY}(?:T(?:[01]\\d|2[0-3])(?::[0-5]\\d){2}(?:\\.\\d+)?Z)?$`);
/** A limit in time; a day counts from its beginning in UTC. */
export const moment = (about: string) =>
  z
    .string()
    .regex(DAY_OR_TIME, 'must be a day such as 2026-03-01, or a time in UTC')
    .optional()
    .describe(about);

/** Not validated here: making a subject of it does that, with its own error code. */
export const sessionName = z.string().meta({
  description: 'Name of the session, of letters, digits, _ and -.',
  pattern: TOKEN_PATTERN.source,
});

const OWNER = {
  session: { session: sessionName },
  'any session': { session: sessionName.optional() },
  project: {
    project: text(64).optional().describe('The project. Default: the project of sessions that name none.'),
  },
  'no session': {},
} as const satisfies Readonly<Record<RequestScope, z.ZodRawShape>>;

/** Who calls a request beside programs, and how. */
interface Callers<Shape extends z.ZodRawShape> {
  /** Default: none. */
  readonly cli?: string;
  readonly example?: { readonly [Field in keyof Shape]?: unknown };
  /** Default: true. */
  readonly agents?: boolean;
}

/** One request: all that permissions, services, clients, commands and pages know of it. */
export interface RegisteredRequest {
  readonly scope: RequestScope;
  /** True if it changes nothing: readers may send it. */
  readonly reads: boolean;
  /** True if users that run agents may send it. */
  readonly agents: boolean;
  readonly summary: string;
  /** Its command: words, then the fields that are arguments, such as `task rm <id>`. Several requests may share one. */
  readonly cli: string;
  /** Values of fields, shown in use. */
  readonly example: Readonly<Record<string, unknown>>;
  /** Fields without the session or project. */
  readonly shape: Readonly<Record<string, z.ZodType>>;
  readonly request: z.ZodType;
  readonly reply: z.ZodType;
}

const row =
  <const Scope extends RequestScope>(scope: Scope, reads: boolean) =>
  <const Shape extends z.ZodRawShape, Reply extends z.ZodType>(
    summary: string,
    { cli = '', example = {}, agents = true }: Callers<Shape>,
    shape: Shape,
    reply: Reply,
  ) => {
    const request = z.object({ ...OWNER[scope], ...shape });
    return { scope, reads, agents, summary, cli, example, shape, request, reply };
  };

/** Changes a session. */
export const command = row('session', false);
export const projectCommand = row('project', false);
export const wideCommand = row('no session', false);
/** Changes nothing. */
export const query = row('session', true);
export const queryOfAny = row('any session', true);
export const projectQuery = row('project', true);
export const wideQuery = row('no session', true);

/** A request about a session whose schema is more than a list of fields. */
export function ofSession<Request extends z.ZodType, Reply extends z.ZodType>(
  reads: boolean,
  summary: string,
  cli: string,
  request: Request,
  reply: Reply,
) {
  return {
    ...({ scope: 'session', agents: true, example: {}, shape: {} } as const),
    reads,
    summary,
    cli,
    request,
    reply,
  };
}
