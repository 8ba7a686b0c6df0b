import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it, vi } from 'vitest';
import { openInBrowser } from '../../src/cli/open-command.js';
import { folderOfTest } from '../support/of-file.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

it.runIf(process.platform === 'linux')(
  'the browser is started with a private file that redirects, so that no argument holds the token',
  async () => {
    const dir = await folderOfTest();
    writeFileSync(
      join(dir, 'xdg-open'),
      `#!/bin/sh\nprintf '%s' "$*" > "${dir}/started.part"\nmv "${dir}/started.part" "${dir}/started"\n`,
    );
    chmodSync(join(dir, 'xdg-open'), 0o755);
    vi.stubEnv('PATH', `${dir}:${process.env.PATH}`);
    const url = 'http://127.0.0.1:4230/?token=s3cret&view=sessions';
    openInBrowser(url, dir);
    const started = await vi.waitFor(() => readFileSync(join(dir, 'started'), 'utf8'), { timeout: 20_000 });
    expect(started).not.toContain('s3cret');
    const page = fileURLToPath(started);
    expect(readFileSync(page, 'utf8')).toContain(url);
    expect(statSync(page).mode & 0o777).toBe(0o600);
  },
);
