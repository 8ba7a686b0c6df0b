import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { natsCli } from './nats-cli.js';
import { prepareTestNats } from './nats-server.js';

/** Once before all files: what they share is built and installed here, not by many of them at once. */
export default async function setup(): Promise<void> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: root });
  await prepareTestNats();
  await natsCli();
}
