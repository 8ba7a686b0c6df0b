import { z } from 'zod';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import type { Command } from './cli-command.js';
import { note } from './command-context.js';
import { confirmed } from './output.js';
import { addRequest } from './request-command.js';
import { showReply } from './show-reply.js';

/** `throughline admin retention`: sessions without activity. A dry run counts what a rule would do. */
export function retentionCommand(program: Command): void {
  const retention = program
    .command('retention')
    .description(
      'Says what happens to sessions without activity. Without rules everything stays.\n' +
        "A rule is that of the installation, or of one project, which counts there in place of the installation's.\n" +
        'The service keeper follows the rules, soon after they are set and then once an hour. forget archives a session after\n' +
        'that time, and erases it once the same time has passed again.',
    )
    .examples(
      'throughline admin retention',
      'throughline admin retention set archive --after 90d --dry-run',
      'throughline admin retention set keep --project parser',
    );
  addRequest(retention, 'tool.retention-show', { isDefault: true });
  addRequest(retention, 'tool.retention-set', {
    cli: 'admin retention set <action>',
    about: 'set or remove a rule',
    fields: { yes: z.literal(true).optional().describe('Do not ask.') },
    send: setRule,
  });
}

type Rule = Parameters<ThroughlineClient['tools']['retentionSet']>[0];

/** Asks before a rule by which sessions would be forgotten now. Without consent the rules stay. */
async function setRule({ tools }: ThroughlineClient, { yes, ...given }: { readonly yes?: true }) {
  const rule = given as Rule;
  const preview = await tools.retentionSet({ ...rule, dryRun: true });
  if (rule.dryRun) return preview;
  if (yes !== true && preview.forget > 0) {
    for (const line of showReply('tool.retention-show', preview)) note(line);
    if (!(await confirmed('Set this rule?', yes))) return tools.retentionShow({});
  }
  return tools.retentionSet(rule);
}
