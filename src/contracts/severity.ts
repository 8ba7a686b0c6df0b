/** From the most to the least severe. */
export const SEVERITIES = ['critical', 'important', 'minor'] as const;
export type Severity = (typeof SEVERITIES)[number];

export function bySeverity<Issue extends { readonly severity: Severity }>(issues: readonly Issue[]): Issue[] {
  return issues.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}
