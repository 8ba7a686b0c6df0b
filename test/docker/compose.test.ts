import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SETTINGS } from '../../src/config/settings.js';
import { composeFile } from './compose.js';

const { nats, settings, throughline } = (await composeFile()).services;

describe('docker-compose.yml', () => {
  it('docker-compose.yml passes every setting of Throughline on from the host, by its name', () => {
    const names = Object.values(SETTINGS)
      .map(({ variable }) => variable)
      // Only commands start a server by themselves.
      .filter((name) => name.startsWith('THROUGHLINE_') && name !== 'THROUGHLINE_AUTOSTART');
    const given = throughline?.environment?.map((entry) => entry.split('=')) ?? [];
    const ofThroughline = given.filter(([name]) => name?.startsWith('THROUGHLINE_'));
    expect(ofThroughline.map(([name]) => name).sort()).toEqual(names.sort());
    expect(ofThroughline.filter(([, value]) => value !== undefined)).toEqual([
      ['THROUGHLINE_TASKS_ROOTS', '/tasks'],
    ]);
  });

  it.each([
    ['of the folder beside it', {}, './tasks', '/tasks'],
    [
      'of a folder of the host, under the path that it has there',
      { THROUGHLINE_TASKS_ROOTS: '/specs' },
      '/specs',
      '/specs',
    ],
  ])('docker-compose.yml mounts the task files %s, to be read only', async (_, env, source, target) => {
    const { environment: variables, volumes } = (await composeFile(env)).services.throughline ?? {};
    expect(volumes).toEqual([{ type: 'bind', source, target, read_only: true }]);
    expect(variables).toContain(`THROUGHLINE_TASKS_ROOTS=${target}`);
  });

  it('docker-compose.yml finds the folder of task files that it mounts by default', () => {
    expect(existsSync(new URL('../../tasks', import.meta.url))).toBe(true);
  });

  it('docker-compose.yml checks the settings once, before services that would restart without end', () => {
    expect(settings?.restart).toBe('no');
    expect(throughline?.restart).toBe('unless-stopped');
    expect(throughline?.depends_on).toEqual({
      nats: { condition: 'service_healthy' },
      settings: { condition: 'service_completed_successfully' },
    });
    const { build, environment: variables, volumes } = settings ?? {};
    expect({ build, environment: variables, volumes }).toEqual({
      build: throughline?.build,
      environment: throughline?.environment,
      volumes: throughline?.volumes,
    });
  });

  it('docker-compose.yml asks the server and the services for their health', () => {
    expect(nats?.healthcheck?.test[0]).toBe('CMD');
    expect(throughline?.healthcheck?.test).toEqual(['CMD', 'throughline', 'admin', 'health', '--here']);
  });
});
