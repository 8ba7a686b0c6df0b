import { effect, signal } from '@preact/signals';
import type { InspectorMe } from '../contracts/inspector-api.js';
import { fetchOwn } from './ask.js';

/** Colour scheme; `system` until a person chooses one. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'throughline-theme';
export const theme = signal<Theme>('system');

/** Applies the theme, and stores it in the browser. */
export function followTheme(): void {
  const kept = read();
  if (kept === 'light' || kept === 'dark') theme.value = kept;
  effect(() => {
    if (theme.value === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
    write(theme.value);
  });
}

export function nextTheme(): void {
  const order = { system: 'light', light: 'dark', dark: 'system' } as const;
  theme.value = order[theme.value];
}

// A browser may forbid storage: the theme then lasts until the page is left.
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
  } catch {}
}

/** True if the screen is too narrow for a timeline row on one line. */
export const narrow = signal(false);

export function followWidth(): void {
  const query = matchMedia('(max-width: 760px)');
  narrow.value = query.matches;
  query.addEventListener('change', () => (narrow.value = query.matches));
}

/** Permissions of this browser; undefined, and nothing allowed, until the server has answered. */
export const me = signal<InspectorMe | undefined>(undefined);

/** Loads `me`. Fails silently: the next request of a view reports the reason. */
export async function loadMe(): Promise<void> {
  me.value = await fetchOwn<InspectorMe>('/api/me').catch(() => me.value);
}
