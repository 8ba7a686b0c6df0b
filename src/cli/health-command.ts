import { hostname } from 'node:os';
import { type Command, Option } from 'commander';
import type { Finding } from '../nats/doctor/finding.js';
import { serviceFindings } from '../nats/doctor/service-findings.js';
import { SERVICES, type ServiceName } from '../services/serve.js';
import { visible } from '../shared/terminal-text.js';
import { VERSION } from '../version.js';
import { cliOf, coloured, examples, out, withNats } from './command-context.js';
import { findingLines, levelText } from './show-query.js';

interface HealthOptions {
  readonly only?: readonly ServiceName[];
  readonly here?: boolean;
  readonly json?: boolean;
}

export function healthCommand(program: Command): void {
  program
    .command('health')
    .description(
      'Asks each service for its health, as `doctor` does, and checks nothing else. Made for the health check of a container.\n' +
        'The exit code is 1 when a service does not answer or cannot work, and 0 when there are only warnings.',
    )
    .addOption(new Option('--only <service...>', 'ask only these').choices(SERVICES))
    .option('--here', 'ask only the instances on this machine, or in this container')
    .option('--json', 'one JSON array of {check, level, message, fix?, repaired?}')
    .addHelpText('after', examples('throughline health', 'throughline health --here --only extractor'))
    .action(async ({ only, here, json }: HealthOptions, command: Command) => {
      const cli = cliOf(command);
      const expected = {
        version: VERSION,
        now: Date.now(),
        timeoutMs: cli.config.requestTimeoutMs,
        only,
        host: here ? hostname() : undefined,
      };
      const found = await withNats(cli, ({ connection }) => serviceFindings(connection, expected));
      if (json) out(JSON.stringify(found));
      else {
        const isRepairs = ({ repaired }: Finding) => repaired !== undefined;
        out(
          summary(
            found.filter((each) => !isRepairs(each)),
            coloured(cli),
          ),
          coloured(cli),
        );
        for (const each of found.filter(isRepairs)) out(findingLines(each, coloured(cli)), coloured(cli));
      }
      if (worst(found) === 'fail') process.exitCode = 1;
    });
}

/** The worst level, and every finding of it. */
function summary(found: readonly Finding[], inColour: boolean): string {
  const level = worst(found);
  const told = found.filter((finding) => finding.level === level);
  return `${levelText(level, inColour)}  ${told.map(({ check, message }) => `${check}: ${visible(message)}`).join('; ')}`;
}

function worst(found: readonly Finding[]): Finding['level'] {
  const levels = new Set(found.map(({ level }) => level));
  return (['fail', 'warn'] as const).find((level) => levels.has(level)) ?? 'ok';
}
