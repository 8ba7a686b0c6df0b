import type { Command } from 'commander';
import type { Config } from '../config/config.js';
import { ThroughlineError } from '../contracts/errors.js';
import { loadEmbedder } from '../engine/embedding/load-embedder.js';
import { connectionFinding, examine } from '../nats/doctor/examine.js';
import type { Finding } from '../nats/doctor/finding.js';
import { accessFindings } from '../nats/doctor/server-findings.js';
import type { ConfiguredEmbedder } from '../nats/doctor/service-findings.js';
import { VERSION } from '../version.js';
import { type Cli, cliOf, coloured, examples, out, withNats } from './command-context.js';
import { findingLines } from './show-query.js';

export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'Checks the server, its limits and clock, whether it can store anything, streams, consumers and buckets, what waits and what was rejected,\n' +
        'snapshots, an embedder where one is configured, the services, and who can reach the server. Changes nothing. The exit code is 1 when something does not work, and 0 when there are only warnings.\n' +
        'Streams are compared with THROUGHLINE_REPLICAS and THROUGHLINE_TUNING.',
    )
    .option('--json', 'one JSON array of {check, level, message, fix?, repaired?, denied?}')
    .addHelpText('after', examples('throughline doctor', 'throughline doctor --json'))
    .action(async (options: { json?: boolean }, command: Command) => {
      const cli = cliOf(command);
      const findings = await examination(cli);
      if (options.json) out(JSON.stringify(findings));
      else for (const finding of findings) out(findingLines(finding, coloured(cli)), coloured(cli));
      if (findings.some(({ level }) => level === 'fail')) process.exitCode = 1;
    });
}

/** Rejected credentials are a finding like any other. */
async function examination(cli: Cli): Promise<Finding[]> {
  const { replicas, ackWaitMs, snapshotEvery, requestTimeoutMs } = cli.config;
  const expected = {
    replicas,
    ackWaitMs,
    snapshotEvery,
    requestTimeoutMs,
    version: VERSION,
    now: Date.now,
    embedder: embedderIn(cli.config),
  };
  try {
    return await withNats(cli, async (nats) => [
      ...(await examine(nats, expected)),
      ...accessFindings(nats.connection),
    ]);
  } catch (error) {
    if (!(error instanceof ThroughlineError) || error.code === 'config_invalid') throw error;
    return [connectionFinding(error)];
  }
}

function embedderIn({
  embedder: options,
  embedDeadlineMs: deadlineMs,
}: Config): ConfiguredEmbedder | undefined {
  return options && { load: () => loadEmbedder(options), deadlineMs };
}
