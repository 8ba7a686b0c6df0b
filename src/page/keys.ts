import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

/** Keys of the page: views say what theirs do, and the help shows all of them. */

export interface KeyBinding {
  /** Each one a key as the browser calls it, or two with a space between, pressed one after the other: `g s`. */
  readonly keys: readonly string[];
  /** What it does, for the help. */
  readonly does: string;
  /** Undefined keeps the binding in the help, for keys that an element handles itself. */
  readonly run?: (event: KeyboardEvent) => void;
}

/** What is bound now; what was bound last comes first. */
export const bound = signal<readonly (readonly KeyBinding[])[]>([]);

/** How long the second key of two is waited for, in milliseconds. */
const SECOND_KEY_MS = 1_500;

/**
 * Binds keys while the component is shown. They may change with each render.
 *
 * @param rank `page` for those of the whole page, which give way to those of a view
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

/** Listens to the keyboard. A key in a field is text; only Escape leaves the field. */
export function followKeys(): void {
  let first: { readonly key: string; readonly at: number } | undefined;
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
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
    // Enter and space belong to what has the focus, where that does something by them.
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
