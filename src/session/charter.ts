import type { EventOf } from '../contracts/session-events.js';

/** What the session is for, and whether it is done. */
export interface Charter {
  goal?: string;
  /** The specification itself, or … */
  spec?: string;
  /** … where it is to be read. */
  spec_path?: string;
  project?: string;
  status: 'open' | 'completed';
  /** Why it was completed in spite of open tasks. */
  completed_reason?: string;
}

export type CharterEvent = EventOf<'session.opened' | 'session.completed' | 'session.restarted'>;

export function emptyCharter(): Charter {
  return { status: 'open' };
}

export function evolveCharter(charter: Charter, event: CharterEvent): void {
  switch (event.type) {
    case 'session.opened':
      for (const key of ['goal', 'spec', 'spec_path', 'project'] as const) {
        const value = event.data[key];
        if (value !== undefined) charter[key] = value;
      }
      return;
    case 'session.completed':
      charter.status = 'completed';
      if (event.data.reason !== undefined) charter.completed_reason = event.data.reason;
      return;
    case 'session.restarted':
      charter.status = 'open';
      delete charter.completed_reason;
      return;
  }
}
