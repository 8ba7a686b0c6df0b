#!/usr/bin/env node
import { outliveReaders } from './broken-pipe.js';

const LAST_WORDS_MS = 500;

outliveReaders([process.stdout, process.stderr]);
// Not awaited: in a bundle, modules that a command loads wait for the one that is still being evaluated here.
void run().then((code) => {
  process.exitCode = code;
  endByForce();
});

async function run(): Promise<number> {
  const [, , command, client, ...more] = process.argv;
  // Agents wait for it at every step: it loads nothing that it does not need.
  if (
    command === 'hook' &&
    client !== undefined &&
    !client.startsWith('-') &&
    more.length === 0 &&
    !process.stdin.isTTY
  ) {
    const { hook } = await import('./hook-command.js');
    await hook(client);
    return 0;
  }
  const { runCli } = await import('./program.js');
  return runCli(process.argv);
}

/**
 * Ends the process soon, even if something that could not be stopped keeps it alive.
 */
function endByForce(): void {
  setTimeout(() => {
    // Where pipes are asynchronous, a slow reader has not had everything yet.
    if (process.stdout.writableLength + process.stderr.writableLength > 0) endByForce();
    else process.exit();
  }, LAST_WORDS_MS).unref();
}
