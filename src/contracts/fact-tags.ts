export const FACT_TAGS = ['file_change', 'convention', 'decision', 'error', 'dependency', 'test'] as const;
export type FactTag = (typeof FACT_TAGS)[number];
