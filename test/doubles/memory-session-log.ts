import type { Token } from '../../src/contracts/names.js';
import { RESULT_PATHS, SESSION_EVENTS, type SessionEvent } from '../../src/contracts/session-events.js';
import type {
  ActiveSession,
  LeaderlessSession,
  NewestAt,
  NewestResults,
  SessionActivity,
  SessionLog,
  Unwatch,
} from '../../src/engine/ports/session-log.js';
import { MemoryEventLog, type MemoryEventLogOptions } from './memory-event-log.js';

export class MemorySessionLog
  extends MemoryEventLog<SessionEvent>
  implements SessionLog, SessionActivity, NewestResults
{
  constructor(options?: MemoryEventLogOptions) {
    super(SESSION_EVENTS, options);
  }

  async newestResults(session: Token): Promise<NewestAt[]> {
    return this.newestOf(session, RESULT_PATHS);
  }

  readonly leaderless = new Set<Token>();

  async activity(): Promise<(ActiveSession | LeaderlessSession)[]> {
    const active = this.keys().map(async (session) => {
      if (this.leaderless.has(session)) return { session, sequence: undefined };
      const { events, through } = await this.read(session, { after: 0 });
      return { session, sequence: through, at: events.at(-1)?.event.at ?? '' };
    });
    return Promise.all(active);
  }

  follow(onMoved: (session: Token) => void): Unwatch {
    return this.watchAll(onMoved);
  }
}
