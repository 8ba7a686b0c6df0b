import { SESSION_EVENTS, type StoredEvent } from '../contracts/session-events.js';

/**
 * A stretch of a log without the commands that came too late: of several decided on one state, the first counts. What
 * came before the stretch is not known, so a command decided on that is taken to count.
 *
 * @param events all commands of the stretch among them, the oldest first
 */
export function withoutRefused(events: readonly StoredEvent[]): StoredEvent[] {
  let lastCommand = 0;
  return events.filter(({ sequence, event, decidedOn }) => {
    if (!SESSION_EVENTS.isCommand(event.type)) return true;
    if (decidedOn !== undefined && (decidedOn < lastCommand || decidedOn >= sequence)) return false;
    lastCommand = sequence;
    return true;
  });
}
