/** Replies of the inspector's own server to its page. */

export const INSPECTOR_ROLES = ['reader', 'operator'] as const;
/** The default port; the next free one is tried if it is taken. */
export const INSPECTOR_PORT = 4280;
export type InspectorRole = (typeof INSPECTOR_ROLES)[number];

/** `GET /api/me`. */
export interface InspectorMe {
  /** Address without secrets. */
  readonly server: string;
  /** In whose name the page acts. */
  readonly user: string;
  /** True if the page may decide: answer, correct, retry, remove. */
  readonly decides: boolean;
}

/** Server-sent events of `GET /api/live`. Only hints: one may be sent twice, or for an event that was not stored. */
export interface LiveEvents {
  readonly change: { readonly session: string; readonly type: string };
  readonly prompt: { readonly session: string };
  readonly rejected: { readonly session?: string };
  readonly learning: { readonly project: string };
  readonly state: { readonly connected: boolean };
}
