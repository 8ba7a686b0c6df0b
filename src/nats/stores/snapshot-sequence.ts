/** The sequence that stands at the beginning of a snapshot's text; 0 for a text that does not begin like one. */
export function snapshotSequence(text: string): number {
  return Number(/^\{"after_sequence":(\d+),/.exec(text)?.[1] ?? 0);
}

/** When a snapshot was made, ISO 8601, by the beginning of its text; `undefined` for one that does not say. */
export function snapshotTime(text: string): string | undefined {
  return /^\{"after_sequence":\d+,"created_at":"([^"]+)",/.exec(text)?.[1];
}
