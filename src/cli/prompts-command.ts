import type { Command } from 'commander';
import type { CompileRequestInput } from '../contracts/compile-request.js';
import { counted } from '../shared/text.js';
import { cliOf, examples, note, out, outForAgent, sessionOf, withClient } from './command-context.js';
import { wholeNumber } from './option-parsers.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';
import { promptLine, promptLines } from './show-prompt.js';

/** Prompts that one session keeps: no list is longer. */
const MOST = 200;

interface ListOptions {
  readonly task?: string;
  readonly limit: number;
  readonly json?: boolean;
}

interface ShowOptions {
  readonly session?: string;
  readonly text?: boolean;
  readonly json?: boolean;
}

export function promptsCommand(program: Command): void {
  const prompts = program
    .command('prompts')
    .description('The newest 200 prompts of a session: what each showed, and what it left out.')
    .addHelpText(
      'after',
      examples('throughline prompts ls demo', 'throughline prompts show 4f1c09ab23de -s demo'),
    );

  onSession(prompts.command('ls'))
    .description('Lists the prompts that were compiled last, the newest first.')
    .option('--task <id>', 'only prompts of this task')
    .option('--limit <n>', 'maximum number to list', wholeNumber(1, MOST), 50)
    .option('--json', 'one JSON array')
    .addHelpText(
      'after',
      examples('throughline prompts ls demo', 'throughline prompts ls demo --task 2.1 --json'),
    )
    .action(async (_: string | undefined, options: ListOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const { task, limit, json } = options;
      const asked = { session, limit, ...(task !== undefined && { task }) };
      const { prompts, total } = await withClient(cli, async (client) => {
        const found = await client.tools.promptList(asked);
        // The ring does not know which sessions exist.
        if (found.total === 0) requireEvents(session, (await client.tools.sessionShow({ session })).sequence);
        return found;
      });
      if (json) return out(JSON.stringify(prompts));
      for (const each of prompts) out(promptLine(each));
      if (total === 0) note(`-- none is kept: ${noneKept(session, task)}`);
      else note(`-- ${prompts.length} of ${counted(total, 'prompt')}`);
    });

  prompts
    .command('show')
    .description(
      'Prints what a prompt showed and what it left out. With --text it is compiled again from its request, as it was.',
    )
    .argument('<id>', 'its id in `prompts ls`, or the beginning of it')
    .option('-s, --session <name>', 'session (default: THROUGHLINE_SESSION, else .throughline.json)')
    .option('--text', 'the prompt itself, compiled again')
    .option('--json', 'one JSON object: {prompt, request}; with --text the whole reply')
    .addHelpText(
      'after',
      examples(
        'throughline prompts show 4f1c09ab23de --session demo',
        'throughline prompts show 4f1c --session demo --text',
      ),
    )
    .action(async (id: string, { session: named, text, json }: ShowOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionOf(cli, named);
      await withClient(cli, async (client) => {
        const shown = await client.tools.promptShow({ session, id });
        const { prompt, request } = shown;
        if (!text) {
          if (json) return out(JSON.stringify(shown));
          for (const each of promptLines(prompt)) out(each);
          return;
        }
        const reply = await client.compilePast(request as CompileRequestInput & { asOf: number });
        if (json) out(JSON.stringify(reply));
        else outForAgent(reply.prompt);
        if (prompt.cut)
          note('-- its request was kept without some of its text: the prompt may have been another');
      });
    });
}

function noneKept(session: string, task: string | undefined): string {
  return task === undefined
    ? `"throughline compile --session ${session}" compiles one`
    : `"throughline prompts ls ${session}" lists those of all tasks`;
}
