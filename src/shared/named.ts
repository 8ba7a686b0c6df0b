const MOST = 10;

/** The first names, ten unless it says otherwise, and how many there are beside them. */
export function named(names: readonly string[], most = MOST): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
