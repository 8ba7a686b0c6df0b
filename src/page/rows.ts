/**
 * Rows that the keyboard moves between: whatever has `data-row` and can take the focus, in the order of the page.
 * Without a row in focus, the first one takes it.
 */
export function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  const own = document.activeElement?.closest<HTMLElement>('[data-row]');
  const index = own === null || own === undefined ? -1 : rows.indexOf(own);
  const next = index === -1 ? rows[0] : rows[Math.min(rows.length - 1, Math.max(0, index + step))];
  next?.focus();
}
