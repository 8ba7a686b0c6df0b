/** Extracts the sequence from the beginning of a snapshot's text; 0 for any other text. */
export function snapshotSequence(text: string): number {
  return Number(/^\{"after_sequence":(\d+),/.exec(text)?.[1] ?? 0);
}
