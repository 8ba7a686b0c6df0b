import { expect, it } from 'vitest';
import {
  COMPILE_STAGES,
  type LabelValues,
  METRICS,
  type Metric,
} from '../../src/engine/monitoring/metric-table.js';
import { ROOT } from './pages.js';

/** Longest list of values that is told in the table. */
const MOST_VALUES = 8;

it('the reference gives every metric with its labels', async () => {
  const metrics: [string, Metric][] = Object.entries(METRICS);
  const rows = metrics.map(
    ([name, { type, help, labels }]) => `| \`${name}\` | ${type} | ${help} | ${labelsIn(labels)} |`,
  );
  const page = `# Metrics

What a process shows at \`/metrics\`, for Prometheus. [Monitor it](../how-to/monitor.md) says how to turn it on. This page is
written from [src/engine/monitoring/metric-table.ts](../../src/engine/monitoring/metric-table.ts).

| metric | type | what it says | labels |
|---|---|---|---|
${rows.join('\n')}

A process shows the metrics of the services that run in it. A counter begins at 0 when its process starts.

## Labels

No label holds a text of an agent, and none names a session. Where the values of a label are listed here or in
[error codes](errors.md), any other value is shown as \`other\`; the rest are names that stand in the code.

## Stages of a compile

\`throughline_compile_duration_seconds\` has one histogram for each kind of prompt and each stage: ${COMPILE_STAGES.map((stage) => `\`${stage}\``).join(', ')}.
\`wait\` stands in place of \`load\` for a request with \`after\`: it loads the session once the result is there. \`total\` is the
time from the request to its reply.
`;
  await expect(page).toMatchFileSnapshot(`${ROOT}docs/reference/metrics.md`);
});

function labelsIn(labels: Metric['labels']): string {
  const told = Object.entries(labels).map(([label, values]) => `\`${label}\`${valuesIn(label, values)}`);
  return told.length === 0 ? '–' : told.join('; ');
}

function valuesIn(label: string, values: LabelValues): string {
  if (values === 'own') return '';
  if (values.length > MOST_VALUES)
    return label === 'code' ? ': an error code' : ': see [Repairs](repairs.md)';
  return `: ${values.map((value) => `\`${value}\``).join(', ')}`;
}
