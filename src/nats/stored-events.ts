import type { Stored } from '../contracts/event.js';
import type { ReadResult } from '../ports/event-log.js';
import type { StreamMessage } from './direct-get.js';

/** The events among the messages that were read after `after`. */
export function eventsOf<Event>(
  messages: readonly StreamMessage[],
  after: number,
  parse: (data: Uint8Array) => Event | undefined,
): ReadResult<Event> {
  const events: Stored<Event>[] = [];
  for (const { sequence, data } of messages) {
    const event = parse(data);
    if (event !== undefined) events.push({ sequence, event });
  }
  return { events, through: messages.at(-1)?.sequence ?? after, skipped: messages.length - events.length };
}
