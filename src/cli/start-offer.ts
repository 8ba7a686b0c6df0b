import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { messageOf } from '../contracts/errors.js';
import { serviceFindings } from '../nats/doctor/service-findings.js';
import { VERSION } from '../version.js';
import { agreed, canAsk } from './agreed.js';
import { type Cli, note, withNats } from './command-context.js';

/** Why hooks and tools would find no services; `undefined` where all answer. */
export async function serverProblem(cli: Cli): Promise<string | undefined> {
  const expected = { version: VERSION, now: Date.now(), timeoutMs: cli.config.requestTimeoutMs };
  try {
    const found = await withNats(cli, ({ connection }) => serviceFindings(connection, expected));
    return found.find(({ level }) => level === 'fail')?.message;
  } catch (error) {
    return messageOf(error);
  }
}

/** Where no services answer, offers to start them; without a terminal it says how. */
export async function offerServer(cli: Cli): Promise<void> {
  const problem = await serverProblem(cli);
  if (problem === undefined) return;
  note(`-- ${problem}`);
  if (!canAsk())
    return note('-- "throughline up --detach" starts a server and all services in the background');
  if (!(await agreed('Start a server and all services in the background? [y/N] '))) return;
  const [, script = ''] = process.argv;
  const started = spawn(process.execPath, [script, 'up', '--detach'], { stdio: 'inherit' });
  const [code] = await once(started, 'close');
  if (code !== 0) process.exitCode = 1;
}
