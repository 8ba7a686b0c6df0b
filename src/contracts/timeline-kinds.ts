export const TIMELINE_KINDS = ['result', 'rejected', 'command', 'trace', 'prompt'] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];
