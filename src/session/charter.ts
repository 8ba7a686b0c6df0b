import type { EventOf } from '../contracts/session-events.js';
import type { SessionSettings } from '../contracts/session-settings.js';
import { clipText, oneLine } from '../shared/text.js';
import { mergedSettings } from './resolved-settings.js';

/** The purpose of a session, and whether it is done. */
export interface Charter {
  /** What lists show beside its name. */
  title?: string;
  goal?: string;
  /** The specification itself, or … */
  spec?: string;
  /** … where it is to be read. */
  spec_path?: string;
  project?: string;
  /** The settings of its prompts that were set. */
  settings?: SessionSettings;
  status: 'open' | 'completed';
  /** Why it was completed in spite of open tasks. */
  completed_reason?: string;
  /** Since when it takes no results, ISO 8601 in UTC, and why. */
  archived?: { readonly at: string; readonly reason?: string; readonly idle_since?: string };
}

const MAX_REASON = 300;

/** That a session is archived, in words. */
export function archivedText(
  session: string,
  { at, reason }: { readonly at: string; readonly reason?: string | undefined },
): string {
  const why = reason === undefined ? '' : ` (${clipText(oneLine(reason), MAX_REASON)})`;
  return `session ${session} is archived since ${at}${why}`;
}

export type CharterEvent = EventOf<
  'session.opened' | 'session.completed' | 'session.restarted' | 'session.archived' | 'session.reopened'
>;

/** Takes over the settings that an event gives; the others stay as they were. */
export function recordSettings(charter: Charter, settings: SessionSettings | undefined): void {
  if (settings !== undefined) charter.settings = mergedSettings(charter.settings, settings);
}

export function emptyCharter(): Charter {
  return { status: 'open' };
}

export function evolveCharter(charter: Charter, event: CharterEvent): void {
  switch (event.type) {
    case 'session.opened':
      for (const key of ['title', 'goal', 'spec', 'spec_path', 'project'] as const) {
        const value = event.data[key];
        if (value !== undefined) charter[key] = value;
      }
      recordSettings(charter, event.data.settings);
      return;
    case 'session.completed':
      charter.status = 'completed';
      if (event.data.reason !== undefined) charter.completed_reason = event.data.reason;
      return;
    case 'session.restarted':
      charter.status = 'open';
      delete charter.completed_reason;
      return;
    case 'session.archived': {
      const { reason, idle_since: idle } = event.data;
      charter.archived = {
        at: event.at,
        ...(reason !== undefined && { reason }),
        ...(idle !== undefined && { idle_since: idle }),
      };
      return;
    }
    case 'session.reopened':
      delete charter.archived;
      return;
  }
}
