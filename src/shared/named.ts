const MOST = 10;

/** The first ten names, and how many there are beside them. */
export function named(names: readonly string[]): string {
  const more = names.length - MOST;
  return `${names.slice(0, MOST).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
