import { Option } from 'commander';
import { TOOL_NAMES, TOOLS } from '../contracts/tool-requests.js';
import type { Command } from './cli-command.js';
import { cliOf, note, out, sessionOf, withClient } from './command-context.js';
import { addFields, print, sentence } from './request-command.js';
import { SESSION_DEFAULT } from './session-argument.js';
import { coloursOf, showReply } from './show-reply.js';

/**
 * `throughline tool NAME`: one command for each request of the service, with a flag for each field. Prompts tell agents to run
 * them; people use the commands of the tree.
 */
export function toolCommand(program: Command): void {
  const tool = program
    .command('tool')
    .description('Sends one request of the service session-tools. Prompts tell agents to run these commands.')
    .examples('throughline tool task-next --session demo --claim agent-1');
  for (const name of TOOL_NAMES) {
    const command = tool.command(name);
    const { scope, summary, example, shape } = TOOLS[name];
    const fallback = scope === 'any session' ? '(default: all)' : SESSION_DEFAULT;
    if (scope !== 'no session') command.option('-s, --session <name>', `session ${fallback}`);
    // The name of this option in the specifications.
    if (scope === 'session') command.addOption(new Option('-n, --name <session>').hideHelp());
    const fieldsIn = addFields(command, shape, { exact: true });
    const words = `throughline tool ${name}${scope === 'no session' ? '' : ' --session demo'}`;
    command
      .summary(summary)
      .description(sentence(summary))
      .option('--json', 'print the whole reply as JSON')
      .examples(`${words} ${example}`.trimEnd())
      .action(async () => {
        const cli = cliOf(command);
        const given = command.opts<{ session?: string; name?: string; json?: boolean }>();
        const named = given.session ?? (scope === 'session' ? given.name : undefined);
        const session = scope === 'session' ? sessionOf(cli, named) : named;
        const request = { ...(session !== undefined && { session }), ...fieldsIn() };
        const reply = await withClient(cli, (client) => client.requestTool(name, request));
        if (given.json === true) return out(JSON.stringify(reply));
        print(cli, showReply(name, reply, coloursOf(cli)));
        if ('next' in reply && typeof reply.next === 'string')
          note(`-- there are more: --cursor ${reply.next}`);
      });
  }
}
