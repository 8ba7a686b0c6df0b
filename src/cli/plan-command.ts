import { type Command, Option } from 'commander';
import { PLAN_STATUSES } from '../contracts/run-request.js';
import type { ToolArguments } from '../contracts/tool-requests.js';
import { cliOf, examples, out, withClient } from './command-context.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';
import { planLines, planReply } from './show-plan.js';
import { watchSession } from './watching.js';

interface PlanOptions {
  readonly task?: string;
  readonly status?: NonNullable<ToolArguments<'plan-show'>['status']>;
  readonly json?: boolean;
  readonly watch?: boolean;
}

export function planCommand(program: Command): void {
  onSession(program.command('plan'))
    .description(
      'Shows the plan that a session follows: how far it is, what is next, each task with its status and what came of it,\n' +
        'what contradicts its results, and the lines that could not be read with certainty.',
    )
    .option('-t, --task <id>', 'only this task, with its requirements and its prompt')
    .addOption(new Option('--status <status>', 'only tasks of this status').choices(PLAN_STATUSES))
    .option('--json', 'print the reply as JSON')
    .option('-w, --watch', 'show it again each time that the session moves, until Ctrl-C')
    .addHelpText(
      'after',
      examples(
        'throughline plan demo',
        'throughline plan demo --status blocked',
        'throughline plan demo --task 2.1 --json',
        'throughline plan demo --watch',
      ),
    )
    .action(async (_: string | undefined, options: PlanOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const { task: id, status, json = false, watch } = options;
      const request = { session, ...(id !== undefined && { id }), ...(status !== undefined && { status }) };
      const show = async () => {
        const reply = await withClient(cli, (client) => client.requestTool('plan-show', request));
        requireEvents(session, reply.sequence);
        return json ? JSON.stringify(reply) : planLines(planReply.parse(reply)).join('\n');
      };
      if (watch) return watchSession(cli, { session, show, redraws: !json });
      out(await show());
    });
}
