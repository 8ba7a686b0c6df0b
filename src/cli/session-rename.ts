import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { token } from '../contracts/names.js';
import { cliOf, examples, note, out, withClient } from './command-context.js';
import { patiently } from './patient-request.js';

/** Between two looks whether it is done. */
const LOOK_MS = 200;

export function renameSessionCommand(session: Command): void {
  session
    .command('rename')
    .summary('give a session another name')
    .argument('<old>', 'the name that it has')
    .argument('<new>', 'the name that it gets: one that no session has')
    .description(
      'Gives a session another name: the same events and state, byte for byte, but for its name and sequences. The old name\n' +
        'points to it: what is sent to it is refused with session_renamed, until "throughline session forget" frees it. It takes\n' +
        'a few seconds, in shards longer for a long session, whose new name works meanwhile. Where a service ended in the middle,\n' +
        'another one goes on with it, and the same command shows when it is done.',
    )
    .option('--json', 'one line of JSON: {"session","to","state"}')
    .addHelpText(
      'after',
      examples('throughline session rename demo parser', 'throughline session rename demo parser --json'),
    )
    .action(async (old: string, given: string, options: { json?: boolean }, command: Command) => {
      const [name, to] = [token(old, 'session'), token(given, 'to')];
      const reply = await withClient(cliOf(command), async (client) => {
        const ask = () => patiently(() => client.tools.sessionRename({ session: name, to }));
        let asked = await ask();
        while (asked.state === 'running') {
          await sleep(LOOK_MS);
          asked = await ask();
        }
        return asked;
      });
      if (options.json === true) return out(JSON.stringify(reply));
      out(
        `renamed session ${name} to ${to}; its state is the same, byte for byte, but for its name and sequences`,
      );
      note(`-- ${name} points to it: "throughline session forget ${name}" frees the name`);
    });
}
