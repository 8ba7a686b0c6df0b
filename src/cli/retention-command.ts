import { Argument } from 'commander';
import { RETENTION_ACTIONS } from '../contracts/lifecycle-record.js';
import type { ToolReply } from '../contracts/requests.js';
import { counted, quoted } from '../shared/text.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { cliOf, note, out, withClient } from './command-context.js';
import { days } from './option-parsers.js';
import { confirmed } from './output.js';

/** `throughline admin retention`: sessions without activity. A dry run counts what a rule would do. */

type SetOptions = Flags<'dryRun' | 'yes' | 'json'> & Texts<'project' | 'after'>;
type Action = (typeof RETENTION_ACTIONS)[number] | 'remove';

export function retentionCommand(program: Command): void {
  const retention = program
    .command('retention')
    .description(
      'Says what happens to sessions without activity. Without rules everything stays.\n' +
        'The service keeper follows the rules, soon after they are set and then once an hour.',
    )
    .examples(
      'throughline admin retention',
      'throughline admin retention set archive --after 90d --dry-run',
      'throughline admin retention set archive --after 90d',
    );

  retention
    .command('show', { isDefault: true })
    .summary('show the rules, and what they would do now')
    .description('Shows the rules, and what they would do now. Nothing is changed.')
    .option('--json', 'print the whole reply as JSON')
    .examples('throughline admin retention', 'throughline admin retention show --json')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      show(await withClient(cliOf(command), (client) => client.tools.retentionShow({})), json);
    });

  retention
    .command('set')
    .summary('set or remove a rule')
    .addArgument(
      new Argument(
        '<action>',
        'archive or forget sessions, keep those of a project, or remove the rule',
      ).choices([...RETENTION_ACTIONS, 'remove']),
    )
    .description(
      "Sets the rule of the installation, or of one project, which counts there in place of the installation's.\n" +
        'forget archives a session after that time, and erases it once the same time has passed again.',
    )
    .option('--after <days>', 'age since the last event: 90d', days)
    .option('--project <name>', 'only for the sessions of this project')
    .option('--dry-run', 'only show what the rules would do then')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'print the whole reply as JSON')
    .examples(
      'throughline admin retention set forget --after 365d --dry-run',
      'throughline admin retention set archive --after 90d --yes',
      'throughline admin retention set keep --project parser',
      'throughline admin retention set remove --project parser',
    )
    .action(async (action: Action, { json, yes, dryRun = false, ...of }: SetOptions, command: Command) => {
      await withClient(cliOf(command), async (client) => {
        const preview = await client.tools.retentionSet({ action, ...of, dryRun: true });
        if (dryRun) return show(preview, json);
        if (yes !== true && preview.forget > 0) {
          for (const line of retentionLines(preview)) note(line);
          if (!(await confirmed('Set this rule?', yes))) return;
        }
        show(await client.tools.retentionSet({ action, ...of }), json);
      });
    });
}

const PREVIEW = 'list them with "throughline session ls --older-than"';

function show(reply: ToolReply<'retention-show'>, json = false): void {
  if (json) out(JSON.stringify(reply));
  else for (const line of retentionLines(reply)) out(line);
}

export function retentionLines({ rules, archive, forget }: ToolReply<'retention-show'>): string[] {
  if (rules.length === 0)
    return ['no rules: everything is kept; "throughline admin retention set archive --after 90d" sets one'];
  return [
    ...rules.map(ruleLine),
    `now they would archive ${counted(archive, 'session')} and forget ${forget}; ${PREVIEW}`,
  ];
}

function ruleLine({ project, action, after, at }: ToolReply<'retention-show'>['rules'][number]): string {
  const whose = project === undefined ? 'installation' : `project ${quoted(project)}`;
  return `${whose}: ${action}${after === undefined ? '' : ` after ${after}`} (set ${at})`;
}
