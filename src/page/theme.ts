import { effect, signal } from '@preact/signals';
import type { InspectorMe } from '../contracts/inspector-api.js';
import { fetchOwn } from './ask.js';

/** Light or dark: as the system, unless a person has chosen. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'throughline-theme';
export const theme = signal<Theme>('system');

/** Shows the theme that was chosen last, and keeps what is chosen. */
export function followTheme(): void {
  const kept = read();
  if (kept === 'light' || kept === 'dark') theme.value = kept;
  effect(() => {
    if (theme.value === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
    write(theme.value);
  });
}

/** The next one of system, light and dark. */
export function nextTheme(): void {
  const order = { system: 'light', light: 'dark', dark: 'system' } as const;
  theme.value = order[theme.value];
}

// A browser may forbid storage: the switch works all the same, until the page is left.
function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function write(value: Theme): void {
  try {
    if (value === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, value);
  } catch {
    // Nothing to do: see above.
  }
}

/** Whether the screen is too narrow for a row on one line. */
export const narrow = signal(false);

/** Follows the width of the window. */
export function followWidth(): void {
  const query = matchMedia('(max-width: 760px)');
  const read = () => {
    narrow.value = query.matches;
  };
  read();
  query.addEventListener('change', read);
}

/** Undefined until the server has said so: nothing is allowed until then. */
export const me = signal<InspectorMe | undefined>(undefined);

/** Asks the server. Fails silently: whatever a view asks next says why. */
export async function loadMe(): Promise<void> {
  me.value = await fetchOwn<InspectorMe>('/api/me').catch(() => me.value);
}
