import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { ToolReply } from '../contracts/replies/replies.js';
import { TOOL_NAMES, TOOLS, type ToolName } from '../contracts/tool-requests.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { counted } from '../shared/text.js';
import { type Cli, cliOf, coloured, examples, note, out, sessionOf, withClient } from './command-context.js';
import { patiently } from './patient-request.js';
import { progressLine } from './progress-line.js';
import { addFields, fieldsIn } from './request-options.js';
import { queryLines } from './show-query.js';
import { showReply } from './show-reply.js';

/** `throughline tool …`: one command for each tool of the service, with options made from its input. */
export function toolCommand(program: Command): void {
  const tool = program
    .command('tool')
    .description('Tools for agents at work: each command is a request to the service session-tools.')
    .addHelpText('after', examples('throughline tool task-next --session demo --claim agent-1'));
  for (const name of TOOL_NAMES) {
    const command = tool.command(name);
    const { scope } = TOOLS[name];
    if (scope === 'no session') {
      addTool(command, name, `throughline tool ${name}`, () => undefined);
      continue;
    }
    const isAny = scope === 'any session';
    const fallback = isAny ? 'all' : 'THROUGHLINE_SESSION, else .throughline.json';
    command.option('-s, --session <name>', `session (default: ${fallback})`);
    // What it was called before, for one more release.
    if (!isAny) command.addOption(new Option('-n, --name <session>').hideHelp());
    addTool(command, name, `throughline tool ${name} --session demo`, (cli, self) => {
      const { session, name: before } = self.opts<{ session?: string; name?: string }>();
      return isAny ? session : sessionOf(cli, session ?? before);
    });
  }
}

/** Makes a command the request to a tool; `sessionIn` says which session it works on, if any. */
export function addTool(
  command: Command,
  name: ToolName,
  words: string,
  sessionIn: (cli: Cli, self: Command) => string | undefined,
): void {
  const { summary, example, shape } = TOOLS[name];
  command.summary(summary).description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
  addFields(command, shape);
  command
    .option('--json', 'print the whole reply as JSON')
    .addHelpText('after', examples(`${words} ${example}`.trimEnd()))
    .action(async () => {
      const cli = cliOf(command);
      const options = command.opts();
      const session = sessionIn(cli, command);
      const request = { ...(session !== undefined && { session }), ...fieldsIn(options, shape) };
      const reply = await withClient(cli, (client) =>
        name === 'session-archive'
          ? archiveSession(client, request, options.json === true)
          : client.requestTool(name, request),
      );
      if (options.json === true) return out(JSON.stringify(reply));
      const lines = queryLines(name, reply);
      if (lines !== undefined) out(lines.join('\n'));
      else out(showReply(reply, coloured(cli)), coloured(cli));
      if ('next' in reply && typeof reply.next === 'string')
        note(`-- there are more: --cursor ${reply.next}`);
    });
}

/** Between two looks at how far it is. */
const LOOK_MS = 200;

/** Archives a session to the end: in shards its events are removed one by one. */
export async function archiveSession(
  client: ThroughlineClient,
  request: object,
  isQuiet: boolean,
): Promise<ToolReply<'session-archive'>> {
  const progress = progressLine(!isQuiet);
  let reply = await client.requestTool('session-archive', request);
  while (reply.removing !== undefined) {
    const { removed, of } = reply.removing;
    if (of > 0)
      progress.reached(
        () => `-- removed ${removed} of ${counted(of, 'event')} that the checkpoint stands for`,
      );
    await sleep(LOOK_MS);
    reply = await patiently(() => client.requestTool('session-archive', request));
  }
  progress.ended();
  return reply;
}
