import { signal } from '@preact/signals';

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
