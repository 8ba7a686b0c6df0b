import { signal } from '@preact/signals';
import type { InspectorMe } from '../contracts/inspector-api.js';
import { fetchOwn } from './ask.js';

/** Undefined until the server has said so: nothing is allowed until then. */
export const me = signal<InspectorMe | undefined>(undefined);

/** Asks the server. Fails silently: whatever a view asks next says why. */
export async function loadMe(): Promise<void> {
  me.value = await fetchOwn<InspectorMe>('/api/me').catch(() => me.value);
}
