/** The sequence that stands at the beginning of a snapshot's text; 0 for a text that does not begin like one. */
export function snapshotSequence(text: string): number {
  return Number(/^\{"after_sequence":(\d+),/.exec(text)?.[1] ?? 0);
}
