import { describe, expect, it } from 'vitest';
import { Monitoring } from '../../../src/engine/monitoring/monitoring.js';
import { monitoringPage } from '../../../src/engine/monitoring/monitoring-server.js';

describe('the monitoring pages', () => {
  it('a process is ready once all that it waits for is', async () => {
    const monitoring = new Monitoring();
    monitoring.expect('nats', () => true);
    monitoring.expect('extractor');
    const waiting = await monitoringPage(monitoring, '/readyz');
    expect(waiting?.status).toBe(503);
    expect(JSON.parse(waiting?.body ?? '')).toEqual({ status: 'not ready', waitsFor: ['extractor'] });
    expect(await monitoringPage(monitoring, '/healthz')).toMatchObject({ status: 200 });
    monitoring.expect('extractor', () => true);
    expect(await monitoringPage(monitoring, '/readyz')).toMatchObject({
      status: 200,
      body: '{"status":"ok"}\n',
    });
    const metrics = await monitoringPage(monitoring, '/metrics');
    expect(metrics).toMatchObject({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' });
    expect(metrics?.body).toContain('throughline_ready{part="extractor"} 1\n');
  });

  it('no other path is a monitoring page', async () => {
    for (const path of ['/', '/metrics/', '/metrics?x', '', '/api/me', '__proto__']) {
      expect(await monitoringPage(new Monitoring(), path)).toBeUndefined();
    }
  });
});
