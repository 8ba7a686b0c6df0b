/** Extracts the sequence from the beginning of a snapshot's text; 0 for any other text. */
export function snapshotSequence(text: string): number {
  return Number(/^\{"after_sequence":(\d+),/.exec(text)?.[1] ?? 0);
}

/** Extracts the creation time, ISO 8601, from the beginning of a snapshot's text. */
export function snapshotTime(text: string): string | undefined {
  return /^\{"after_sequence":\d+,"created_at":"([^"]+)",/.exec(text)?.[1];
}
