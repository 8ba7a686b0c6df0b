import { describe, expect, it } from 'vitest';
import {
  byLabel,
  Durations,
  METRICS,
  type Metric,
  MetricRegistry,
} from '../../../src/engine/monitoring/monitoring.js';
import { attacks } from '../../support/attacks.js';
import * as fc from '../../support/properties.js';

async function linesOf(registry: MetricRegistry, name: string): Promise<string[]> {
  return (await registry.text()).split('\n').filter((line) => line.startsWith(name));
}

describe('the registry of metrics', () => {
  it('the registry adds up what several parts show under the same labels', async () => {
    const registry = new MetricRegistry();
    const counted = (role: string, value: number) =>
      registry.add(() => ({ throughline_results_total: byLabel('role', { [role]: value }) }));
    counted('implementer', 3);
    counted('reviewer', 1);
    counted('implementer', 4);
    expect(await linesOf(registry, 'throughline_results_total')).toEqual([
      'throughline_results_total{role="implementer"} 7',
      'throughline_results_total{role="reviewer"} 1',
    ]);
  });

  it('the registry shows durations in buckets that include the smaller ones', async () => {
    const registry = new MetricRegistry();
    const durations = new Durations();
    for (const ms of [0.4, 1, 700, 60_000]) durations.observe(ms);
    const labels = { kind: 'dispatch', stage: 'total' };
    registry.add(() => ({ throughline_compile_duration_seconds: [[labels, durations]] }));
    registry.add(() => ({ throughline_compile_duration_seconds: [[labels, durations]] }));
    const lines = await linesOf(registry, 'throughline_compile_duration_seconds');
    const bucket = (le: string) =>
      lines
        .find((line) => line.includes(`le="${le}"`))
        ?.split(' ')
        .at(-1);
    expect(['0.0005', '0.001', '0.5', '1', '10', '+Inf'].map(bucket)).toEqual(['2', '4', '4', '6', '6', '8']);
    expect(lines.at(-1)).toBe('throughline_compile_duration_seconds_count{kind="dispatch",stage="total"} 8');
    expect(Number(lines.at(-2)?.split(' ').at(-1))).toBeCloseTo(121.4028);
  });

  it('the registry leaves out a part that fails, and says that one did', async () => {
    const registry = new MetricRegistry();
    registry.add(async () => {
      throw new Error('NATS does not answer');
    });
    registry.add(() => ({ throughline_retries_total: [[{}, 2]] }));
    expect(await linesOf(registry, 'throughline_')).toEqual([
      'throughline_retries_total 2',
      'throughline_scrape_failures_total 1',
    ]);
  });

  it('no label can hold a text of an agent, whatever a part gives', async () => {
    const property = fc.asyncProperty(attacks, async (text) => {
      const registry = new MetricRegistry();
      registry.add(() => ({
        throughline_rejections_total: [[{ code: text }, 1]],
        throughline_requests_total: [[{ service: text, subject: `tool.${text}` }, 1]],
        throughline_build_info: [[{ version: text, node: `v ${text}` }, 1]],
      }));
      for (const line of (await registry.text()).split('\n').filter((each) => each.includes('{'))) {
        expect(line).toMatch(/^\w+\{(\w+="[A-Za-z0-9][A-Za-z0-9._/+-]{0,79}",?)+\} 1$/);
      }
      const rejections = await linesOf(registry, 'throughline_rejections_total');
      expect(rejections).toEqual(['throughline_rejections_total{code="other"} 1']);
    });
    await fc.assert(property, { numRuns: 200 });
  });

  it('the table names each metric by its unit, and what is counted by _total', () => {
    const metrics: [string, Metric][] = Object.entries(METRICS);
    for (const [name, { type, help }] of metrics) {
      expect(name).toMatch(/^throughline_[a-z]+(_[a-z]+)*$/);
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(help, name).toMatch(/^[A-Z1].*[^.]$/);
    }
  });
});
