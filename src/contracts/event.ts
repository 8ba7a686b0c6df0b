import { z } from 'zod';

/**
 * The envelope of every event:
 * `{"session"|"project":…,"after"?:…,"decided_on"?:…,"v":1,"type":…,"at":…,"id"?:…,"data":{…}}`.
 *
 * It names its session or project and, for a command, the sequence that it was decided on: a copy of an event in
 * another log, or later in its own, must not count.
 *
 * `after` stands where the log was asked to store it directly behind that sequence, or not at all; `decided_on` where
 * others may have come in between: such an event counts unless one of these is a command that counts.
 */
export const EVENT_VERSION = 1;

export const timestamp = z.iso.datetime('must be a time in UTC, such as 2026-01-31T12:00:00Z');

/** The schema of one event type. */
export function eventOf<Type extends string, Shape extends z.ZodRawShape>(type: Type, data: Shape) {
  return z.object({
    v: z.literal(EVENT_VERSION).describe('Version of the format of the event.'),
    type: z.literal(type).describe('Type of the event.'),
    at: timestamp.describe('When it happened, ISO 8601 in UTC.'),
    id: z
      .string()
      .optional()
      .describe('Names the command that it came from, so that a retry finds its own event.'),
    data: z.object(data).describe('What happened.'),
  });
}

/** The sequence of the state that a command was decided on, in one of two ways. */
export interface DecidedOn {
  /** Stored only with nothing in between. */
  readonly after?: number;
  /** Stored whatever came in between. */
  readonly decidedOn?: number;
}

/** What an event says of its place: what an append expects of the log, unless it is told to say something else. */
export function decidedBy({
  decided,
  expectedSequence: after,
  decidedOn,
}: {
  readonly decided?: DecidedOn;
  readonly expectedSequence?: number;
  readonly decidedOn?: number;
}): DecidedOn {
  return decided ?? { ...(after !== undefined && { after }), ...(decidedOn !== undefined && { decidedOn }) };
}

/** An event with its place in its log; `sequence` increases, but may have gaps. */
export interface Stored<Event> extends DecidedOn {
  readonly sequence: number;
  readonly event: Event;
}

/**
 * Whether an event counts behind those at `last`, the newest that counted before it, and at `lastCommand`, the newest
 * command among them. A command counts only in the place that it was decided for: nothing that it could depend on came
 * in between, so of several that were decided on one state the first counts, and no copy does.
 */
export function counts(
  { sequence, after, decidedOn }: Omit<Stored<unknown>, 'event'>,
  { lastEvent, lastCommand }: { readonly lastEvent: number; readonly lastCommand: number },
): boolean {
  if (decidedOn !== undefined) return decidedOn >= lastCommand && decidedOn < sequence;
  return after === undefined || after >= lastEvent;
}

/** What a log belongs to. */
export type LogKind = 'session' | 'project';

/** How the events of a kind of log are read: from the JSON of a message, or `undefined` for anything else. */
export interface EventFormat<Event> {
  readonly kind: LogKind;
  readonly parse: (json: unknown) => Event | undefined;
  /** Whether events of a type are commands; others come by themselves, and no command is decided on them. */
  readonly isCommand: (type: string) => boolean;
  /** Writes the JSON of some events faster than `JSON.stringify`, and the same; `undefined` for the others. */
  readonly json?: (event: Event) => string | undefined;
}

/** The bytes of an event in the log of a session or project. */
export function writeEvent<Event extends object>(
  { kind, json }: Pick<EventFormat<Event>, 'kind' | 'json'>,
  key: string,
  event: Event,
  { after, decidedOn }: DecidedOn = {},
): Uint8Array {
  // As text, since this is done for every result: a copy of the event with two more fields would cost more than they do.
  const behind = after === undefined ? '' : `"after":${after},`;
  const decided = decidedOn === undefined ? '' : `"decided_on":${decidedOn},`;
  const said = json?.(event) ?? JSON.stringify(event);
  return Buffer.from(`{"${kind}":${JSON.stringify(key)},${behind}${decided}${said.slice(1)}`);
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
  const { after, decided_on: decidedOn }: { after?: unknown; decided_on?: unknown } = json;
  if (!isSequence(after) || !isSequence(decidedOn)) return undefined;
  const event = parse(json);
  return (
    event && {
      event,
      ...(after !== undefined && { after }),
      ...(decidedOn !== undefined && { decidedOn }),
    }
  );
}

/** True if a stored message does not name the session or project of its log. */
function belongsElsewhere(json: object, kind: LogKind, key: string): boolean {
  const { session, project }: { session?: unknown; project?: unknown } = json;
  const owner = kind === 'session' ? session : project;
  return owner !== key;
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

function isSequence(value: unknown): value is number | undefined {
  return value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0);
}
