import { signal } from '@preact/signals';

/** Whether the screen is too narrow for two texts beside each other. */
const query = matchMedia('(max-width: 820px)');
export const narrow = signal(query.matches);
query.addEventListener('change', () => {
  narrow.value = query.matches;
});
