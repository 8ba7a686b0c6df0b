import { COMPILE_STAGES, METRICS, type Metric } from '../../src/engine/monitoring/monitoring.js';
import { endingWith, type Written } from './pages.js';

export function metricsPage(): Written {
  const metrics: [string, Metric][] = Object.entries(METRICS);
  const rows = metrics.map(([name, { type, help, labels }]) => {
    const by = Object.keys(labels).map((label) => `\`${label}\``);
    return `| \`${name}\` | ${type} | ${help}${by.length === 0 ? '' : `, by ${by.join(', ')}`} |`;
  });
  const page = `## Metrics by name

Generated from [src/engine/monitoring/monitoring.ts](../../src/engine/monitoring/monitoring.ts), which also has the values of each label. A counter starts
at 0 with the process.

| metric | type | meaning |
|---|---|---|
${rows.join('\n')}

No label contains a text of an agent or the name of a session; an unknown value is shown as \`other\`. The stages are ${COMPILE_STAGES.map((stage) => `\`${stage}\``).join(', ')}:
\`wait\` replaces \`load\` for a request with \`after\`, and \`total\` is the time from the request to its reply.
`;
  return { 'docs/how-to/run-in-production.md': endingWith('docs/how-to/run-in-production.md', page) };
}
