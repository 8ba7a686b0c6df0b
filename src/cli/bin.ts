#!/usr/bin/env node
import { outliveReaders } from './broken-pipe.js';
import { runCli } from './program.js';

outliveReaders([process.stdout, process.stderr]);
process.exitCode = await runCli(process.argv);
