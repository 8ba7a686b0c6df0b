import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { METRICS, type Metric } from '../../../src/engine/monitoring/monitoring.js';
import { newFolder } from '../../support/of-file.js';
import { NO_PROMTOOL, PROMTOOL } from '../../support/promtool.js';

const FILE = new URL('../../../scripts/grafana/throughline.json', import.meta.url);
const dashboard = z.object({
  panels: z.array(
    z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) }),
  ),
});
const QUERIES = dashboard
  .parse(JSON.parse(readFileSync(FILE, 'utf8')))
  .panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));
const TABLE: Readonly<Record<string, Metric>> = METRICS;
/** Labels that Prometheus adds to each metric. */
const ADDED = ['job', 'instance'];

function metricOf(series: string): [name: string, metric: Metric | undefined] {
  const name = series.replace(/_(bucket|sum|count)$/, '');
  return TABLE[name]?.type === 'histogram' ? [name, TABLE[name]] : [series, TABLE[series]];
}

function seriesIn(expr: string): string[] {
  return [...expr.matchAll(/\bthroughline_\w+/g)].map(([series]) => series);
}

function faultsOf(expr: string): string[] {
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
  const selected = [...expr.matchAll(/(\w+)\s*(?:=~|!=|=)\s*"/g)].map(([, label = '']) => label);
  return seriesIn(expr).flatMap((series) => {
    const [, metric] = metricOf(series);
    if (metric === undefined) return [`there is no metric ${series}`];
    const known = [...Object.keys(metric.labels), ...ADDED, ...(series.endsWith('_bucket') ? ['le'] : [])];
    const unknown = [...grouped, ...selected].filter((label) => !known.includes(label));
    const isRated = new RegExp(`(?:rate|increase)\\(${series}\\b`).test(expr);
    const counts = metric.type !== 'gauge';
    return [
      ...unknown.map((label) => `${series} has no label ${label}`),
      ...(isRated === counts ? [] : [`${series} is a ${metric.type}: ${counts ? 'use' : 'do not use'} rate`]),
    ];
  });
}

describe('the dashboard', () => {
  it('the dashboard asks only for metrics and labels that exist, and for rates of counters alone', () => {
    expect(QUERIES.length).toBeGreaterThan(20);
    expect(QUERIES.flatMap(({ title, expr }) => faultsOf(expr).map((fault) => `${title}: ${fault}`))).toEqual(
      [],
    );
  });

  it('a query of a metric, a label or a rate that does not exist is found', () => {
    const faults = [
      'sum(throughline_nothing)',
      'sum by (session) (throughline_ready)',
      'rate(throughline_ready[5m])',
      'throughline_results_total',
    ].map((expr) => faultsOf(expr).length);
    expect(faults).toEqual([1, 1, 1, 1]);
  });

  it('the dashboard shows every metric', () => {
    const shown = new Set(QUERIES.flatMap(({ expr }) => seriesIn(expr).map((series) => metricOf(series)[0])));
    expect(Object.keys(METRICS).filter((name) => !shown.has(name))).toEqual([]);
  });

  it('Prometheus can read the queries of the dashboard', async (context) => {
    if (PROMTOOL === undefined) context.skip(NO_PROMTOOL);
    const rules = QUERIES.map(({ expr }, index) => ({
      record: `dashboard:query_${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    await using folder = await newFolder();
    const file = await folder.write('rules.json', JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    const { status, stderr } = spawnSync(PROMTOOL ?? '', ['check', 'rules', file], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
