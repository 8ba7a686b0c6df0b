import type { Command } from 'commander';
import type { ThroughlineClient } from '../client/throughline-client.js';
import { ThroughlineError } from '../contracts/errors.js';
import type { ToolReply } from '../contracts/replies/replies.js';
import type { RetentionOutlook } from '../contracts/replies/retention-reply.js';
import { agreed, canAsk } from './agreed.js';
import { cliOf, examples, note, out, withClient } from './command-context.js';
import { span, term } from './option-parsers.js';
import { retentionLines, runDone } from './show-retention.js';

/** `throughline retention`: how long things are kept. What a rule would do is shown before it does anything. */

interface SetOptions {
  readonly project?: string;
  readonly archiveAfter?: string;
  readonly forgetAfter?: string;
  readonly dispatchesAfter?: string;
  readonly rejectedAfter?: string;
  readonly json?: boolean;
}

interface SureOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Between two looks at how far it is. */
const LOOK_MS = 500;

export function retentionCommand(program: Command): void {
  const retention = program
    .command('retention')
    .description(
      'Says how long sessions, results and rejected results are kept. Without rules everything stays.\n' +
        'A rule does nothing before `retention enforce`: until then it only shows what it would do.\n' +
        'The service keeper follows the rules once an hour.',
    )
    .addHelpText(
      'after',
      examples(
        'throughline retention',
        'throughline retention set --archive-after 90d --forget-after 365d',
        'throughline retention enforce',
      ),
    );

  retention
    .command('show', { isDefault: true })
    .summary('show the rules, and what they would do now')
    .description('Shows the rules, and what they would do now. Nothing is changed.')
    .option('--ahead <time>', 'what they would do after so long if nothing moved: 12h or 30d', span)
    .option('--json', 'print the whole reply as JSON')
    .addHelpText('after', examples('throughline retention', 'throughline retention show --ahead 30d'))
    .action(async ({ ahead, json }: { ahead?: string; json?: boolean }, command: Command) => {
      const asked = { ...(ahead !== undefined && { ahead }) };
      show(await withClient(cliOf(command), (client) => client.tools.retentionShow(asked)), json);
    });

  retention
    .command('set')
    .summary('set a rule, and show what it would do')
    .description(
      'Sets how long things are kept, in days or `never`; what is left out stays as it is.\n' +
        'A project takes from the installation what its own rule does not say.\n' +
        'The rule is not enforced until `retention enforce`.',
    )
    .option('--project <name>', 'only for sessions of this project (default: all sessions)')
    .option('--archive-after <days>', 'archive sessions that have not moved for this long', term)
    .option('--forget-after <days>', 'forget sessions that have not moved for this long', term)
    .option('--dispatches-after <days>', 'remove results, as published, that are this old', term)
    .option('--rejected-after <days>', 'remove rejected results that are this old', term)
    .option('--json', 'print the whole reply as JSON')
    .addHelpText(
      'after',
      examples(
        'throughline retention set --archive-after 90d --forget-after 365d',
        'throughline retention set --dispatches-after 30d --rejected-after 14d',
        'throughline retention set --project parser --forget-after never',
      ),
    )
    .action(async ({ json, project, ...terms }: SetOptions, command: Command) => {
      if (Object.keys(terms).length === 0)
        throw new ThroughlineError(
          'usage',
          'give --archive-after, --forget-after, --dispatches-after or --rejected-after, with days such as 90d, or never',
        );
      const rule = { ...terms, ...(project !== undefined && { project }) };
      await withClient(cliOf(command), async (client) => {
        show(await client.tools.retentionSet(rule), json);
        if (project !== undefined && !(await hasSessions(client, project)))
          note(
            `-- no session of project ${project} is known: "throughline session ls" shows what there is, and the rule counts for those that come`,
          );
      });
      note('-- not enforced yet: "throughline retention enforce" does that');
    });

  retention
    .command('unset')
    .summary('remove a rule')
    .description('Removes the rule of the installation, or of a project.')
    .option('--project <name>', 'the rule of this project')
    .option('--json', 'print the whole reply as JSON')
    .addHelpText(
      'after',
      examples('throughline retention unset', 'throughline retention unset --project parser'),
    )
    .action(async ({ json, ...whose }: { project?: string; json?: boolean }, command: Command) => {
      const reply = await withClient(cliOf(command), (client) =>
        client.tools.retentionSet({ ...whose, remove: true }),
      );
      show(reply, json);
    });

  sure(retention.command('enforce'))
    .summary('enforce the rules, after showing what they would do')
    .description('Shows what the rules would do, asks, and has the keeper follow them from then on.')
    .addHelpText('after', examples('throughline retention enforce', 'throughline retention enforce --yes'))
    .action(async (options: SureOptions, command: Command) => {
      await withClient(cliOf(command), async (client) => {
        const version = await agreedOn(client, options, 'enforce', 'Enforce these rules? [y/N] ');
        if (version === undefined) return note('-- nothing was changed');
        const reply = await client.tools.retentionEnforce({ version });
        if (options.json === true) return out(JSON.stringify(reply));
        out('the rules are enforced: the keeper follows them once an hour');
      });
    });

  sure(retention.command('apply'))
    .summary('do now what the rules say')
    .description(
      'Shows what the rules would do, asks, and does it now, one time. Rules that are not enforced count as well.',
    )
    .addHelpText('after', examples('throughline retention apply', 'throughline retention apply --yes --json'))
    .action(async (options: SureOptions, command: Command) => {
      await withClient(cliOf(command), async (client) => {
        const version = await agreedOn(client, options, 'apply', 'Do it now? [y/N] ');
        if (version === undefined) return note('-- nothing was done');
        await apply(client, options, version);
      });
    });
}

function sure(command: Command): Command {
  return command.option('-y, --yes', 'do not ask').option('--json', 'one line of JSON: the last reply');
}

async function hasSessions(client: ThroughlineClient, project: string): Promise<boolean> {
  for (const archived of [{}, { status: 'archived' as const }])
    if ((await client.tools.sessionList({ project, limit: 1, ...archived })).total > 0) return true;
  return false;
}

function show(reply: RetentionOutlook, json = false): void {
  if (json) out(JSON.stringify(reply));
  else for (const line of retentionLines(reply, new Date().toISOString())) out(line);
}

/** The version of the rules that were shown and agreed to; `undefined` where they were not. */
async function agreedOn(
  client: ThroughlineClient,
  { yes, json }: SureOptions,
  word: string,
  question: string,
): Promise<number | undefined> {
  if (yes !== true && !canAsk())
    throw new ThroughlineError(
      'usage',
      `nothing was done: there is no terminal to ask on. Use "throughline retention ${word} --yes"`,
    );
  const outlook = await client.tools.retentionShow({});
  if (outlook.rules.length > 0 && json !== true)
    for (const line of retentionLines(outlook, new Date().toISOString())) note(line);
  if (yes === true || outlook.rules.length === 0 || (await agreed(question))) return outlook.version;
  return undefined;
}

async function apply(client: ThroughlineClient, { json }: SureOptions, version: number): Promise<void> {
  let reply: ToolReply<'retention-apply'> = await client.tools.retentionApply({ version });
  let said = '';
  while (reply.state === 'running') {
    const line = `-- so far ${runDone(reply.run)}`;
    if (json !== true && process.stderr.isTTY && line !== said) note(line);
    said = line;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    reply = await client.tools.retentionApply({ version, run: reply.run.id });
  }
  if (json === true) out(JSON.stringify(reply));
  else out(runDone(reply.run));
  if (reply.state === 'done') return;
  const why = reply.run.error ?? 'its process has ended';
  throw new ThroughlineError(
    'unavailable',
    `it was cut short: ${why}: "throughline retention apply" goes on`,
  );
}
