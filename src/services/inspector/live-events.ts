import type { TimelineEntry } from '../../contracts/replies/timeline-reply.js';

/**
 * What the live feed tells a browser, by the name of its server-sent event. Without an `entry` a change says no more than
 * that something has happened: it may come twice, or for what was not stored in the end.
 */
export interface LiveEvents {
  readonly change: {
    readonly session: string;
    readonly type: string;
    readonly at: string;
    readonly sequence?: number;
    readonly entry?: TimelineEntry;
  };
  readonly prompt: { readonly session: string; readonly entry: TimelineEntry };
  readonly rejected: { readonly session?: string; readonly role?: string; readonly at: string };
  readonly learning: { readonly project: string; readonly at: string };
  /** Whether the inspector has its NATS server. */
  readonly state: { readonly connected: boolean };
  /** Something was left out: ask again for what is shown. */
  readonly lost: Readonly<Record<string, never>>;
}

const encoder = new TextEncoder();

/** One event as it is sent. */
export function sent<Name extends keyof LiveEvents>(event: Name, data: LiveEvents[Name]): Uint8Array {
  return encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Keeps proxies from ending a stream that is quiet. */
export const HEARTBEAT = encoder.encode(': still there\n\n');
