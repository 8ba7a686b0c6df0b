import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export interface KeyBinding {
  /** `KeyboardEvent.key` values, or two of them in sequence: `g s`. */
  readonly keys: readonly string[];
  /** Text for the help. */
  readonly does: string;
  /** Undefined for a key that an element handles itself: the help still lists it. */
  readonly run?: (event: KeyboardEvent) => void;
}

/** The current bindings, in order of precedence. */
export const bound = signal<readonly (readonly KeyBinding[])[]>([]);

/** Longest time between the keys of a sequence, in milliseconds. */
const SECOND_KEY_MS = 1_500;

/**
 * Binds keys while the component is mounted.
 *
 * @param rank bindings of a `view` take precedence over those of the `page`
 */
export function useKeys(bindings: readonly KeyBinding[], rank: 'page' | 'view' = 'view'): void {
  const newest = useRef(bindings);
  newest.current = bindings;
  useEffect(() => {
    const own = newest.current.map(({ keys, does }, index) => ({
      keys,
      does,
      run: (event: KeyboardEvent) => newest.current[index]?.run?.(event),
    }));
    bound.value = rank === 'page' ? [...bound.value, own] : [own, ...bound.value];
    return () => {
      bound.value = bound.value.filter((each) => each !== own);
    };
  }, []);
}

/** Listens to the keyboard. A key typed in a field is text, except Escape, which leaves the field. */
export function followKeys(): void {
  let first: { readonly key: string; readonly at: number } | undefined;
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey) return;
    if (event.ctrlKey || event.metaKey) {
      const binding = bindingOf(`Ctrl+${event.key}`);
      if (binding === undefined || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      return binding.run?.(event);
    }
    if (isField(event.target)) {
      if (event.key === 'Escape' && event.target instanceof HTMLElement) event.target.blur();
      return;
    }
    if (document.querySelector('dialog[open]') !== null) return;
    const before = first !== undefined && event.timeStamp - first.at < SECOND_KEY_MS ? first.key : undefined;
    const two = before === undefined ? undefined : bindingOf(`${before} ${event.key}`);
    const binding = two ?? bindingOf(event.key);
    first = { key: event.key, at: event.timeStamp };
    if (two !== undefined) first = undefined;
    // Enter and space activate the focused link or button.
    if (binding?.run === undefined || (isPressable(event.target) && /^(Enter| )$/.test(event.key))) return;
    event.preventDefault();
    binding.run(event);
  });
}

function bindingOf(keys: string): KeyBinding | undefined {
  return bound.value.flat().find((binding) => binding.keys.includes(keys));
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type);
  return target.matches('textarea, select, [contenteditable]');
}

function isPressable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('a[href], button, summary, input');
}

/** Moves the focus to the next or previous `data-row` element of the page, or to the first one. */
export function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  const own = document.activeElement?.closest<HTMLElement>('[data-row]');
  const index = own === null || own === undefined ? -1 : rows.indexOf(own);
  const next = index === -1 ? rows[0] : rows[Math.min(rows.length - 1, Math.max(0, index + step))];
  next?.focus();
}
