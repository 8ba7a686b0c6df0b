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
