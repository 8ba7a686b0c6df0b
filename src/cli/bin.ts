#!/usr/bin/env node
import { outliveReaders } from './broken-pipe.js';
import { runCli } from './program.js';

const LAST_WORDS_MS = 500;

outliveReaders([process.stdout, process.stderr]);
process.exitCode = await runCli(process.argv);
endByForce();

/**
 * Ends the process soon, should something keep it alive that could not be stopped.
 */
function endByForce(): void {
  setTimeout(() => {
    // Where pipes are asynchronous, a slow reader has not had everything yet.
    if (process.stdout.writableLength + process.stderr.writableLength > 0) endByForce();
    else process.exit();
  }, LAST_WORDS_MS).unref();
}
