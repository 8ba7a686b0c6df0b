import {
  COMPILE_STAGES,
  type LabelValues,
  METRICS,
  type Metric,
} from '../../src/engine/monitoring/metric-table.js';
import { endingWith, type Written } from './pages.js';

/** Longest list of values that is told in the table. */
const MOST_VALUES = 8;

export function metricsPage(): Written {
  const metrics: [string, Metric][] = Object.entries(METRICS);
  const rows = metrics.map(
    ([name, { type, help, labels }]) => `| \`${name}\` | ${type} | ${help} | ${labelsIn(labels)} |`,
  );
  const page = `## Metrics by name

A process exposes the metrics of its services at \`/metrics\`. A counter starts at 0 with the process. This part of the page is
generated from [src/engine/monitoring/metric-table.ts](../../src/engine/monitoring/metric-table.ts).

| metric | type | meaning | labels |
|---|---|---|---|
${rows.join('\n')}

No label contains a text of an agent or the name of a session. A label value that is neither listed here nor an
[error code](../reference/errors.md) is shown as \`other\`.

\`throughline_compile_duration_seconds\` has one histogram for each kind of prompt and each stage: ${COMPILE_STAGES.map((stage) => `\`${stage}\``).join(', ')}.
\`wait\` replaces \`load\` for a request with \`after\`. \`total\` is the time from the request to its reply.
`;
  return { 'docs/how-to/monitor.md': endingWith('docs/how-to/monitor.md', page) };
}

function labelsIn(labels: Metric['labels']): string {
  const told = Object.entries(labels).map(([label, values]) => `\`${label}\`${valuesIn(label, values)}`);
  return told.length === 0 ? '–' : told.join('; ');
}

function valuesIn(label: string, values: LabelValues): string {
  if (values === 'own') return '';
  if (values.length > MOST_VALUES)
    return label === 'code' ? ': an error code' : ': see [Repairs](../reference/results.md#repairs)';
  return `: ${values.map((value) => `\`${value}\``).join(', ')}`;
}
