/** Splits a row into cells, without the outer pipes; `\|` is a pipe in a cell. */
export function cellsOf(row: string): string[] {
  const text = row.trim();
  const cells: string[] = [];
  let from = text.startsWith('|') ? 1 : 0;
  let hasEscape = false;
  for (let at = from; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x5c) {
      hasEscape = true;
      at += 1;
    } else if (unit === 0x7c) {
      cells.push(text.slice(from, at));
      from = at + 1;
    }
  }
  if (from < text.length) cells.push(text.slice(from));
  return cells.map((cell) => (hasEscape ? cell.replaceAll('\\|', '|') : cell).trim());
}

/** Returns the number of columns of a delimiter row, undefined for other lines. */
export function isDelimiterRow(row: string): number | undefined {
  const text = row.trimEnd();
  if (!/^[|:-]/.test(text) || !text.includes('-')) return undefined;
  if (/[^|:\- \t]/.test(text)) return undefined;
  const cells = cellsOf(text);
  return cells.length > 0 && cells.every((cell) => /^:?-+:?$/.test(cell)) ? cells.length : undefined;
}
