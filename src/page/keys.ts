import { useEffect, useRef } from 'preact/hooks';

interface KeyBinding {
  /** `KeyboardEvent.key` values. */
  readonly keys: readonly string[];
  readonly run: () => void;
}

/** The newest bindings of each mounted component. */
const bound = new Set<{ readonly current: readonly KeyBinding[] }>();

/** Binds keys while the component is mounted. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const newest = useRef(bindings);
  newest.current = bindings;
  useEffect(() => {
    bound.add(newest);
    return () => void bound.delete(newest);
  }, []);
}

/** Listens to the keyboard. A key typed in a field is text, except Escape, which leaves the field. */
export function followKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey) return;
    // A held key presses once: another button may stand where the first press acted.
    if (event.repeat && event.target instanceof Element && event.target.matches('button'))
      event.preventDefault();
    const isWithControl = event.ctrlKey || event.metaKey;
    if (!isWithControl && isField(event.target)) {
      if (event.key === 'Escape' && event.target instanceof HTMLElement) {
        event.target.blur();
        path = [];
      }
      return;
    }
    if (document.querySelector('dialog[open]') !== null) return;
    const pressed = isWithControl ? `Ctrl+${event.key}` : event.key;
    const binding = [...bound].flatMap(({ current }) => current).find(({ keys }) => keys.includes(pressed));
    // Enter and space activate the focused link or button.
    if (binding === undefined || (isPressable(event.target) && /^(Enter| )$/.test(event.key))) return;
    event.preventDefault();
    binding.run();
  });
}

/** Time in which a key does not press the button to which `keepFocus` has moved, in milliseconds. */
const MOVED_MS = 500;
let moved: { readonly to?: Element; readonly at: number } = { at: 0 };

/**
 * Drops the second click of a double click on a button or link: where the first one has acted, another one may stand in its
 * place, such as the same one of the next row. So may the one to which the focus has moved: a key pressed twice acts once.
 */
export function followClicks(): void {
  const drop = (event: MouseEvent) => {
    const isByKey =
      event.detail === 0 && event.target === moved.to && performance.now() - moved.at < MOVED_MS;
    if (!(event.detail > 1 || isByKey) || !(event.target instanceof Element)) return;
    if (event.target.closest('.button, a') === null) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  document.addEventListener('click', drop, true);
}

/** The element that had the focus last and its ancestors, each with its place among its siblings. */
let path: (readonly [element: Element, place: number])[] = [];

const FOCUSABLE = ':is(a[href], button, input, select, textarea):not(:disabled)';

/**
 * Returns the focus of the keyboard when what had it is gone or was disabled meanwhile: to the same element, else to what
 * follows in the nearest part that is left, such as the button that takes an action back, or the next row.
 */
export function keepFocus(): void {
  document.addEventListener('focusin', ({ target }) => {
    path = [];
    for (let at = target instanceof Element ? target : null; at !== null; at = at.parentElement)
      path.push([at, [...(at.parentElement?.children ?? [])].indexOf(at)]);
  });
  // A click elsewhere leaves it.
  document.addEventListener('pointerdown', () => (path = []), true);
  const settle = () => {
    const [was] = path[0] ?? [];
    if (was === undefined || document.activeElement !== document.body || !document.hasFocus()) return;
    if (was.isConnected) {
      if (was.matches(FOCUSABLE) && was instanceof HTMLElement) was.focus();
      return;
    }
    const at = path.findIndex(([part]) => part.isConnected && part.querySelector(FOCUSABLE) !== null);
    const [part] = path[at] ?? [];
    const later = [...(part?.children ?? [])].slice(path[at - 1]?.[1]);
    const next = later.flatMap((element) => [element, ...element.querySelectorAll(FOCUSABLE)]);
    const first = next.find((element) => element.matches(FOCUSABLE)) ?? part?.querySelector(FOCUSABLE);
    if (!(first instanceof HTMLElement)) return;
    moved = { to: first, at: performance.now() };
    first.focus();
  };
  const seen = { childList: true, subtree: true, attributeFilter: ['disabled'] };
  new MutationObserver(settle).observe(document.body, seen);
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type);
  return target.matches('textarea, select, [contenteditable]');
}

function isPressable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('a[href], button, summary, input');
}
