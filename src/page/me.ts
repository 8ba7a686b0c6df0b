import { signal } from '@preact/signals';
import { fetchOwn } from './ask.js';

/** Who this browser is to the inspector, and what it may do. */
export interface Me {
  readonly version: string;
  readonly role: 'reader' | 'operator';
  /** Address of the NATS server, without secrets. */
  readonly server: string;
  readonly may: {
    /** Accept, reject and edit learnings. */
    readonly decide: boolean;
    /** Retry and remove rejected results. */
    readonly retry: boolean;
  };
}

/** Undefined until the server has said so: nothing is allowed until then. */
export const me = signal<Me | undefined>(undefined);

/** Asks the server. Fails silently: whatever a view asks next says why. */
export async function loadMe(): Promise<void> {
  me.value = await fetchOwn<Me>('/api/me').catch(() => me.value);
}
