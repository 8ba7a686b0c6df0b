import { z } from 'zod';
import { isObject, jsonOf } from '../shared/text.js';
import type { ErrorCode } from './error-codes.js';
import { object, string } from './schema-fields.js';

/**
 * The envelope of every event: `{"session"|"project":…,"after"?:…,"v":1,"type":…,"at":…,"id"?:…,"data":{…}}`.
 *
 * It names its session or project, so that a copy in another log does not count. `after` is the expectation of its append
 * (compare-and-set): the newest command for a command, and the newest event on its subject for a result. A copy of a command
 * later in its own log does not count.
 */
export const EVENT_VERSION = 1;

export const timestamp = z.iso.datetime('must be a time in UTC, such as 2026-01-31T12:00:00Z');

export function eventOf<Type extends string, Shape extends z.ZodRawShape>(type: Type, data: Shape) {
  return z.object({
    v: z.literal(EVENT_VERSION).describe('Version of the format of the event.'),
    type: z.literal(type).describe('Type of the event.'),
    at: timestamp.describe('When it happened, ISO 8601 in UTC.'),
    id: string('Id of the command, so that a retry finds its own event.').optional(),
    data: object('What happened.', data),
  });
}

/** An event with its position in its log; `sequence` increases, but may have gaps. */
export interface Stored<Event> {
  readonly sequence: number;
  readonly event: Event;
  /** The sequence that its append expected. */
  readonly after?: number;
}

export type LogKind = 'session' | 'project';

/** Reads and writes the events of one kind of log. */
export interface EventFormat<Event> {
  readonly kind: LogKind;
  readonly parse: (json: unknown) => Event | undefined;
  /** Returns the place of an event in its log: the last tokens of its subject. */
  readonly pathOf: (event: Event) => string;
  /**
   * Returns the places whose newest event an append at a place expects, as a filter of subjects; `undefined` if it expects none.
   * All writers use the same one: on replicas the server compares appends in flight only under one filter.
   */
  readonly expectedAt: (path: string) => string | undefined;
}

export function writeEvent<Event extends object>(
  { kind }: Pick<EventFormat<Event>, 'kind'>,
  key: string,
  event: Event,
  after?: number,
): Uint8Array {
  return Buffer.from(JSON.stringify({ [kind]: key, after, ...event }));
}

/** Reads an event of the owner's log; `undefined` for anything else: a bad message must not make the log unreadable. */
export function readEvent<Event>(
  { kind, parse }: Pick<EventFormat<Event>, 'kind' | 'parse'>,
  key: string,
  data: Uint8Array,
): Omit<Stored<Event>, 'sequence'> | undefined {
  const json = jsonOf(data);
  if (!isObject(json) || json[kind] !== key) return undefined;
  const { after } = json;
  if (!isSequence(after)) return undefined;
  const event = parse(json);
  return event && { event, ...(after !== undefined && { after }) };
}

function isSequence(value: unknown): value is number | undefined {
  return value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0);
}

/** The outcome of a command. Pure: the caller adds time and id, appends, and decides again after a conflict. */
export type DecisionOn<State, Event> =
  | { readonly kind: 'append'; readonly event: Unstamped<Event>; readonly reply: ReplyOn<State> }
  | { readonly kind: 'answer'; readonly reply: ReplyOn<State> }
  | Refusal;

/** Makes the answer from the state after the event. */
export type ReplyOn<State> = (state: State) => object;

export interface Refusal {
  readonly kind: 'refuse';
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** An event without version, time and id. */
export type Unstamped<Event> = Event extends { readonly type: string; readonly data: unknown }
  ? Pick<Event, 'type' | 'data'>
  : never;

export function refuse(
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Refusal {
  return { kind: 'refuse', code, message, ...(details && { details }) };
}
