import { hookState, logHook } from '../agents/hooks/hook-state.js';
import { recordRaw } from '../agents/hooks/run-hook.js';
import { flush } from '../agents/hooks/send-waiting.js';
import { removeSpool, type SpoolCount, spoolCounts, spoolOf } from '../agents/hooks/spool.js';
import { stateDirOf } from '../config/config.js';
import { pausedFolder, pausedText } from '../config/connected-projects.js';
import { personName } from '../config/person-name.js';
import { installationKey, serverText } from '../config/user-server.js';
import { usageError } from '../contracts/errors.js';
import { counted } from '../shared/text.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { type Cli, cliOf, note, out, withClient } from './command-context.js';

const NO_LIMIT_MS = 60_000;

export function addUnsent(result: Command): void {
  result
    .command('unsent')
    .description(
      'Lists what hooks and the MCP server have kept on this machine and not sent, by installation: items to send, and items that\n' +
        'it refused or no version can read. The next hook sends the items for the server in use.',
    )
    .option('--send <installation>', 'send all of it to the server in use')
    .option('--rm <installation>', 'delete all of it')
    .option('--json', 'one JSON array of {installation, waiting, unreadable}')
    .examples('throughline result unsent', 'throughline result unsent --send named:old.example:4222')
    .action(async ({ send, rm, json }: Flags<'json'> & Texts<'send' | 'rm'>, command: Command) => {
      const cli = cliOf(command);
      const stateDir = stateDirOf(cli.config.env);
      const named = send ?? rm;
      const counts = spoolCounts(stateDir);
      if (send !== undefined && rm !== undefined) throw usageError('--send and --rm: give one of them');
      if (named !== undefined && !counts.some(({ installation }) => installation === named))
        throw usageError(`nothing waits for ${named}: "throughline result unsent" lists the installations`);
      if (rm !== undefined) removeSpool(stateDir, rm);
      if (send !== undefined) await sendHere(cli, send);
      const left = named === undefined ? counts : spoolCounts(stateDir);
      if (json) return out(JSON.stringify(left));
      for (const count of left) out(`${count.installation}  ${inWords(count)}`);
      const key = installationKey(cli.server);
      note(`-- in use: ${key}, ${serverText(cli.server)}`);
      if (left.some(({ installation, waiting }) => installation === key && waiting > 0))
        note(`-- the next hook sends its items; "throughline result unsent --send ${key}" sends them now`);
    });
}

async function sendHere(cli: Cli, installation: string): Promise<void> {
  const { config } = cli;
  const stateDir = stateDirOf(config.env);
  const log = (line: string) => {
    note(`-- ${line}`);
    logHook(stateDir, line, () => serverText(cli.server));
  };
  const spool = spoolOf(stateDir, installationKey(cli.server), log);
  const leftMs = () => NO_LIMIT_MS;
  await withClient(cli, async (client) => {
    spool.takeOver(installation);
    const person = (folder: string) => personName(cli.server, folder);
    await recordRaw({ config, stateDir, spool, person, log, leftMs, connect: async () => client });
    const stored = () => spoolCounts(stateDir).reduce((sum, row) => sum + row.waiting + row.unreadable, 0);
    const begun = stored();
    // Each pass sends a part of a long list.
    for (let before = Number.POSITIVE_INFINITY; ; ) {
      await flush({ state: hookState(stateDir, log), spool, log, leftMs }, client);
      const { length } = spool.waiting();
      if (length === 0 || length === before) break;
      before = length;
    }
    note(`-- ${counted(begun - stored(), 'item')} sent`);
  });
}

/** Returns what to know of the hooks here: that the folder is paused, and what they kept and have not sent. */
export function hookRemarks({ config, server }: Cli): string[] {
  const stateDir = stateDirOf(config.env);
  const paused = pausedFolder(stateDir, process.cwd());
  const inUse = installationKey(server);
  const kept = spoolCounts(stateDir).map((count) =>
    count.installation === inUse ? inWords(count) : `${inWords(count)} for ${count.installation}`,
  );
  return [
    ...(paused === undefined ? [] : [pausedText(paused)]),
    ...(kept.length === 0 ? [] : [`kept by hooks: ${kept.join('; ')}: "throughline result unsent" shows it`]),
  ];
}

function inWords({ waiting, unreadable }: SpoolCount): string {
  const refused = `${unreadable} could not be sent`;
  if (waiting === 0) return refused;
  return `${counted(waiting, 'item')} to send${unreadable === 0 ? '' : `, ${refused}`}`;
}
