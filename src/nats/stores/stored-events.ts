import { type EventFormat, readEvent, type Stored } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import type { ReadResult } from '../../engine/ports/session-log.js';
import type { StreamMessage } from '../jetstream/direct-get.js';

export interface EventPlaces<Event> {
  readonly format: EventFormat<Event>;
  readonly subject: (key: Token, type: string) => string;
}

/** Returns the events among messages read after `after`, without foreign ones and those under a wrong subject. */
export function eventsOf<Event extends { readonly type: string }>(
  messages: readonly StreamMessage[],
  after: number,
  key: Token,
  { format, subject: subjectOf }: EventPlaces<Event>,
): ReadResult<Event> {
  const events: Stored<Event>[] = [];
  for (const { sequence, subject, data, foreign } of messages) {
    const stored = foreign === undefined ? readEvent(format, key, data) : undefined;
    if (stored !== undefined && subject === subjectOf(key, stored.event.type)) {
      events.push({ sequence, ...stored });
    }
  }
  return { events, through: messages.at(-1)?.sequence ?? after, skipped: messages.length - events.length };
}
