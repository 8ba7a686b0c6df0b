import { jsonOf } from '../../contracts/event.js';
import { scopedRequest, type Token } from '../../contracts/names.js';
import { keptPrompt } from '../../contracts/replies/prompt-trace.js';
import type { TimelineEntry, TimelineListed } from '../../contracts/replies/timeline-reply.js';
import { toolSubject } from '../../contracts/request-names.js';
import type { LiveTransport } from '../../ports/live-transport.js';
import { promptEntry } from '../../session/timeline-entry.js';
import type { Newer } from './session-follower.js';

/** Most entries that are told one by one. */
const MAX_TOLD = 200;

/** Asks for the timeline of a session behind an event; without one only for where it stands. */
export function newerBy(
  transport: LiveTransport,
  timeoutMs: number,
): (session: Token, after: number | undefined) => Promise<Newer> {
  return async (session, after) => {
    const range = after === undefined ? { limit: 1 } : { after, limit: MAX_TOLD };
    // Prompts are told of by themselves.
    const kinds = ['result', 'rejected', 'command', 'trace'];
    const body = { session, kinds, ...range };
    const subject = scopedRequest(toolSubject('timeline-list'), body);
    const { entries, sequence, next } = (await transport.request(subject, body, timeoutMs)) as TimelineListed;
    return { entries: entries.toReversed(), sequence, isCut: next !== undefined };
  };
}

/** The entry of a compiled prompt, from the trace that it leaves; undefined for anything else. */
export function promptEntryOf(data: Uint8Array): TimelineEntry | undefined {
  const kept = keptPrompt.safeParse(jsonOf(data)).data;
  return kept && promptEntry(kept);
}
