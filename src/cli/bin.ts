#!/usr/bin/env node
import { outliveReaders } from './broken-pipe.js';
import { runCli } from './program.js';

const LAST_WORDS_MS = 500;

outliveReaders([process.stdout, process.stderr]);
// Not awaited: in a bundle, modules that a command loads wait for the one that is still being evaluated here.
void runCli(process.argv).then((code) => {
  process.exitCode = code;
  endByForce();
});

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
