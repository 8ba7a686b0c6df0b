import { z } from 'zod';

/** The envelope of every event: `{"v":1,"type":…,"at":…,"id"?:…,"data":{…}}`. */
export const EVENT_VERSION = 1;

export const timestamp = z.iso.datetime();

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
}

/**
 * Reads an event from its bytes, or gives `undefined` where it is none of the schema's. A reader skips such a message
 * and goes on: one bad message must not make a whole log unreadable.
 */
export function parseEvent<Schema extends z.ZodType>(
  schema: Schema,
  data: Uint8Array,
): z.output<Schema> | undefined {
  try {
    const parsed = schema.safeParse(JSON.parse(new TextDecoder().decode(data)));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
