import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Monitoring } from '../../../src/engine/monitoring/monitoring.js';
import { startMonitoringServer } from '../../../src/engine/monitoring/monitoring-server.js';

/** Starts a server and returns a function that requests it with a Host header and returns status and text. */
async function served(options: { readonly host: string; readonly names?: readonly string[] }) {
  const server = await startMonitoringServer(new Monitoring(), { ...options, port: 0 });
  onTestFinished(() => server.stop());
  const { port } = new URL(server.url);
  return (host: string) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path: '/metrics', headers: { host } }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part) => {
          text += part;
        });
        answer.on('end', () => resolve({ status: answer.statusCode, text }));
      })
        .once('error', reject)
        .end();
    });
}

describe('the monitoring server', () => {
  it('the metrics are given to names of this machine, and to no name that a foreign site may have', async () => {
    const ask = await served({ host: '127.0.0.1' });
    for (const host of ['127.0.0.1', 'localhost:9464', '[::1]:9464'])
      expect(await ask(host)).toMatchObject({ status: 200 });
    for (const host of ['evil.example', 'evil.example:9464', 'localhost.evil.example', '10.0.0.7']) {
      const { status, text } = await ask(host);
      expect(status).toBe(403);
      expect(text).toContain('--metrics-name');
      expect(text).not.toContain('throughline_ready');
    }
  });

  it('a port that is open to others is asked by its address, or by a name that was given', async () => {
    const ask = await served({ host: '0.0.0.0', names: ['Metrics.internal'] });
    for (const host of ['10.0.0.7:9464', '[fd00::7]', 'metrics.internal:9464', 'localhost'])
      expect(await ask(host)).toMatchObject({ status: 200 });
    expect(await ask('evil.example')).toMatchObject({ status: 403 });
  });
});
