import { usageError } from '../contracts/errors.js';
import { RETENTION_TERMS, type RetentionTerm } from '../contracts/lifecycle-record.js';
import type {
  MessagesShown,
  RetentionOutlook,
  SessionsShown,
} from '../contracts/replies/lifecycle-replies.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { age, counted, oneLine } from '../shared/text.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { cliOf, note, out, withClient } from './command-context.js';
import { span, term } from './option-parsers.js';
import { agreed, canAsk } from './output.js';

/** `throughline admin retention`: how long things are kept. What a rule would do is shown before it does anything. */

type SetOptions = Flags<'remove' | 'dryRun' | 'yes' | 'json'> &
  Texts<'project' | 'archiveAfter' | 'forgetAfter' | 'dispatchesAfter' | 'rejectedAfter'>;

export function retentionCommand(program: Command): void {
  const retention = program
    .command('retention')
    .description(
      'Says how long sessions, results and rejected results are kept. Without rules everything stays.\n' +
        'The service keeper follows the rules, soon after they are set and then once an hour.',
    )
    .examples(
      'throughline admin retention',
      'throughline admin retention set --archive-after 90d --forget-after 365d --dry-run',
      'throughline admin retention set --archive-after 90d --forget-after 365d',
    );

  retention
    .command('show', { isDefault: true })
    .summary('show the rules, and what they would do now')
    .description('Shows the rules, and what they would do now. Nothing is changed.')
    .option('--ahead <time>', 'what they would do after so long if nothing moved: 12h or 30d', span)
    .option('--json', 'print the whole reply as JSON')
    .examples('throughline admin retention', 'throughline admin retention show --ahead 30d')
    .action(async ({ ahead, json }: { ahead?: string; json?: boolean }, command: Command) => {
      const asked = { ...(ahead !== undefined && { ahead }) };
      show(await withClient(cliOf(command), (client) => client.tools.retentionShow(asked)), json);
    });

  retention
    .command('set')
    .summary('set a rule, which the keeper enforces from then on, or show what it would do')
    .description(
      'Sets how long things are kept, in days or `never`; what is left out stays as it is.\n' +
        'A project uses the rule of the installation for everything else.\n' +
        'Where something would be forgotten or removed at once, it shows that and asks.',
    )
    .option('--project <name>', 'only for sessions of this project (default: all sessions)')
    .option('--archive-after <days>', 'archive sessions that have not moved for this long', term)
    .option('--forget-after <days>', 'forget sessions that have not moved for this long', term)
    .option('--dispatches-after <days>', 'remove results, as published, that are this old', term)
    .option('--rejected-after <days>', 'remove rejected results that are this old', term)
    .option('--remove', 'remove the rule of the installation, or of the project')
    .option('--dry-run', 'only show what the rules would do then')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'print the whole reply as JSON')
    .examples(
      'throughline admin retention set --archive-after 90d --forget-after 365d --dry-run',
      'throughline admin retention set --dispatches-after 30d --rejected-after 14d --yes',
      'throughline admin retention set --project parser --forget-after never',
      'throughline admin retention set --project parser --remove',
    )
    .action(async ({ json, yes, dryRun = false, ...rule }: SetOptions, command: Command) => {
      const { project, remove, ...terms } = rule;
      if (remove !== true && Object.keys(terms).length === 0)
        throw usageError(
          'give --archive-after, --forget-after, --dispatches-after or --rejected-after, with days such as 90d, or never, or --remove',
        );
      await withClient(cliOf(command), async (client) => {
        const outlook = await client.tools.retentionSet({ ...rule, dryRun: true });
        if (dryRun) return show(outlook, json);
        if (yes !== true && removes(outlook) && !(await isSure(outlook)))
          return note('-- nothing was changed');
        show(await client.tools.retentionSet(rule), json);
        if (project !== undefined && !(await hasSessions(client, project)))
          note(
            `-- no session of project ${project} is known: "throughline session ls" shows what there is, and the rule counts for those that come`,
          );
      });
    });
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

function removes({ forget, dispatches, rejected }: RetentionOutlook): boolean {
  return forget.total + dispatches.total + rejected.total > 0;
}

async function isSure(outlook: RetentionOutlook): Promise<boolean> {
  for (const line of retentionLines(outlook, new Date().toISOString())) note(line);
  if (canAsk()) return agreed('Set this rule? [y/N] ');
  throw usageError(
    'nothing was changed: something would be removed at once, and no terminal is attached to confirm it. Add --yes',
  );
}

const WORDS: Readonly<Record<RetentionTerm, string>> = {
  archiveAfter: 'archive',
  forgetAfter: 'forget',
  dispatchesAfter: 'results',
  rejectedAfter: 'rejected results',
};

const NAMED = 10;

/** @param now ISO 8601, from which ages are counted */
export function retentionLines(outlook: RetentionOutlook, now: string): string[] {
  const { rules, paused, at, archive, forget, dispatches, rejected, unknown, lastRun } = outlook;
  if (rules.length === 0)
    return ['no rules: everything is kept; "throughline admin retention set --archive-after 90d" sets one'];
  const isAhead = at > now;
  return [
    ...rules.map(ruleLine),
    ...(paused ? ['paused since a restore: nothing is done until you set a rule again'] : []),
    isAhead ? `if nothing moves until ${at}, they would then` : 'now they would',
    ...sessionLines('archive', archive, at),
    ...sessionLines('forget', forget, at),
    ...messageLines('result', dispatches, at),
    ...messageLines('message of rejected results', rejected, at, 'messages of rejected results'),
    ...(unknown === 0 ? [] : [`  ${counted(unknown, 'session')} not read yet: left alone`]),
    ...(lastRun === undefined ? [] : [lastRunLine(lastRun, now)]),
  ];
}

function ruleLine(rule: RetentionOutlook['rules'][number]): string {
  const terms = RETENTION_TERMS.flatMap((term) => {
    const after = rule[term];
    return after === undefined ? [] : `${WORDS[term]} ${after === 'never' ? 'never' : `after ${after}`}`;
  });
  const whose = rule.project === undefined ? 'installation' : `project ${oneLine(rule.project)}`;
  return `${whose}: ${terms.join(', ')} (set ${rule.at})`;
}

function sessionLines(verb: string, { total, sessions }: SessionsShown, at: string): string[] {
  if (total === 0) return [`  ${verb} no session`];
  const named = sessions.slice(0, NAMED).map(({ session, project, last, after, of }) => {
    const rule = `${after} of ${of === undefined ? 'the installation' : `project ${of}`}`;
    return `    ${oneLine(session)} of project ${oneLine(project)}, last moved ${age(last, at)} (${rule})`;
  });
  const more = total - named.length;
  return [
    `  ${verb} ${counted(total, 'session')}, those that moved longest ago first`,
    ...named,
    ...(more > 0 ? [`    and ${more} more: --json names up to 100`] : []),
  ];
}

function messageLines(
  one: string,
  { total, oldest, held }: MessagesShown,
  at: string,
  many = `${one}s`,
): string[] {
  const from = total === 0 || oldest === undefined ? '' : `, the oldest of ${age(oldest, at)}`;
  return [
    `  remove ${total === 0 ? `no ${one}` : counted(total, one, many)}${from}`,
    ...(held === undefined ? [] : [`    kept for longer: ${oneLine(held)}`]),
  ];
}

function lastRunLine(run: NonNullable<RetentionOutlook['lastRun']>, now: string): string {
  const { startedAt, endedAt, error } = run;
  const state =
    error === undefined ? (endedAt === undefined ? ', not ended' : '') : `, failed: ${oneLine(error)}`;
  return `last run ${age(startedAt, now)}: ${runDone(run)}${state}`;
}

function runDone(run: NonNullable<RetentionOutlook['lastRun']>): string {
  const { archived, forgotten, spared, dispatches, rejected } = run;
  return [
    `${counted(archived, 'session')} archived`,
    `${forgotten} forgotten`,
    `${counted(dispatches, 'result')} removed`,
    `${counted(rejected, 'message')} of rejected results removed`,
    ...(spared === 0 ? [] : [`${counted(spared, 'session')} left alone`]),
  ].join(', ');
}
