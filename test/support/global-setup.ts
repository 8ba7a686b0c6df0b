import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

let done: Promise<void> | undefined;

/** Once before all files of all projects: what they share is built and installed here, not by many of them at once. */
export default function setup(): Promise<void> {
  done ??= prepare();
  return done;
}

async function prepare(): Promise<void> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  // As scripts/test has done it a moment ago.
  if (process.env.THROUGHLINE_TEST_BUILT !== '1')
    await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: root });
  // Only now: what they import has to be built.
  const { prepareTestNats } = await import('./nats-server.js');
  const { natsCli } = await import('./nats-cli.js');
  await prepareTestNats();
  await natsCli();
}
