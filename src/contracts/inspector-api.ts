import type { TimelineEntry } from './replies/timeline-reply.js';

/** What the inspector's own server tells its page, beside the replies of the services that it passes on. */

/** What an inspector lets its browsers do: look, or decide as well. */
export const INSPECTOR_ROLES = ['reader', 'operator'] as const;
export type InspectorRole = (typeof INSPECTOR_ROLES)[number];

/** `GET /api/me`: what the page shows of the inspector, and what it may offer. */
export interface InspectorMe {
  readonly version: string;
  readonly role: InspectorRole;
  /** Address of the NATS server, without secrets. */
  readonly server: string;
  readonly may: {
    /** Accept, reject and edit learnings. */
    readonly decide: boolean;
    /** Retry and remove rejected results. */
    readonly retry: boolean;
  };
}

/**
 * `GET /api/live[?session=X]`: what it tells, by the name of its server-sent event. Without an `entry` a change says no
 * more than that something has happened: it may come twice, or for what was not stored in the end. Changes have their
 * entry where one session alone is watched.
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

/** How the installation did at one moment; rates are since the moment before. What could not be told is left out. */
export interface HealthPoint {
  readonly at: string;
  /** Dispatches that are not folded yet. */
  readonly pending?: number;
  readonly resultsPerSecond?: number;
  readonly rejectedPerSecond?: number;
  readonly compilesPerSecond?: number;
  /** Mean time of a prompt, in milliseconds; left out where none was compiled. */
  readonly compileMsMean?: number;
  /** Seconds from the newest snapshot to a newer result; 0 where no result is newer. */
  readonly snapshotLag?: number;
}

/** `GET /api/health-history`: the last hour, oldest first. */
export interface HealthHistoryReply {
  readonly everyMs: number;
  readonly points: readonly HealthPoint[];
}
