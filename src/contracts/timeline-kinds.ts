/** What the entries of a timeline are: a result, one that could not be used, a command, a trace, or a compiled prompt. */
export const TIMELINE_KINDS = ['result', 'rejected', 'command', 'trace', 'prompt'] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];
