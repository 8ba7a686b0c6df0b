import { z } from 'zod';

/**
 * The envelope of every event: `{"session"|"project":…,"after"?:…,"v":1,"type":…,"at":…,"id"?:…,"data":{…}}`.
 *
 * It names its session or project and, for a command, the sequence that it was decided on: a copy of an event in
 * another log, or later in its own, must not count. Events of earlier versions have neither.
 */
export const EVENT_VERSION = 1;

export const timestamp = z.iso.datetime('must be a time in UTC, such as 2026-01-31T12:00:00Z');

/** The schema of one event type. */
export function eventOf<Type extends string, Shape extends z.ZodRawShape>(type: Type, data: Shape) {
  return z.object({
    v: z.literal(EVENT_VERSION),
    type: z.literal(type),
    at: timestamp,
    /** Names the command that it came from, so that a retry finds its own event. */
    id: z.string().optional(),
    data: z.object(data),
  });
}

/** An event with its place in its log; `sequence` increases, but may have gaps. */
export interface Stored<Event> {
  readonly sequence: number;
  readonly event: Event;
  /** Of a command: the sequence of the state that it was decided on. */
  readonly after?: number;
}

/**
 * Whether an event counts behind the one at `last`, the newest that counted before it: a command counts only in the place
 * that it was decided for. What was appended in its place has no event in between, so only copies are refused.
 */
export function counts({ after }: Pick<Stored<unknown>, 'after'>, last: number): boolean {
  return after === undefined || after >= last;
}

/** What a log belongs to. */
export type LogKind = 'session' | 'project';

/** How the events of a kind of log are read: from the JSON of a message, or `undefined` for anything else. */
export interface EventFormat<Event> {
  readonly kind: LogKind;
  readonly parse: (json: unknown) => Event | undefined;
}

/** The bytes of an event in the log of a session or project. */
export function writeEvent<Event extends object>(
  kind: LogKind,
  key: string,
  event: Event,
  after: number | undefined,
): Uint8Array {
  // As text, since this is done for every result: a copy of the event with two more fields would cost more than they do.
  const place = `"${kind}":${JSON.stringify(key)},${after === undefined ? '' : `"after":${after},`}`;
  return Buffer.from(`{${place}${JSON.stringify(event).slice(1)}`);
}

/**
 * Reads an event of the log of a session or project from its bytes, or gives `undefined` for anything else. An event of
 * another session or project gives `undefined` too. A reader skips such a message and goes on: one bad message must not
 * make a whole log unreadable.
 */
export function readEvent<Event>(
  { kind, parse }: EventFormat<Event>,
  key: string,
  data: Uint8Array,
): Omit<Stored<Event>, 'sequence'> | undefined {
  const json = jsonOf(data);
  if (typeof json !== 'object' || json === null || belongsElsewhere(json, kind, key)) return undefined;
  const after = 'after' in json ? json.after : undefined;
  if (after !== undefined && !isSequence(after)) return undefined;
  const event = parse(json);
  return event && { event, ...(after !== undefined && { after }) };
}

/** Whether a stored message names another session or project than that of its log. */
export function belongsElsewhere(json: object, kind: LogKind, key: string): boolean {
  const { session, project }: { session?: unknown; project?: unknown } = json;
  const owner = kind === 'session' ? session : project;
  return owner !== undefined && owner !== key;
}

/** The JSON of a message, or `undefined`. */
export function jsonOf(data: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(data));
  } catch {
    return undefined;
  }
}

/** Reads an event by its schema, or gives `undefined` where it is none. */
export function parseEvent<Schema extends z.ZodType>(
  schema: Schema,
  json: unknown,
): z.output<Schema> | undefined {
  const parsed = schema.safeParse(json);
  return parsed.success ? parsed.data : undefined;
}

function isSequence(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
