import { z } from 'zod';
import type { ToolReply } from '../contracts/requests.js';
import type { StoredCounts } from '../contracts/session-requests.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { counted } from '../shared/text.js';
import type { Command, Flags } from './cli-command.js';
import { cliOf, note, out, withClient } from './command-context.js';
import { confirmed, progressLine } from './output.js';
import { addRequest, addRequests } from './request-command.js';
import { onSession, sessionGiven, shownOf } from './session-argument.js';
import { addExport, addImport, patiently } from './session-import.js';
import { sessionLines, showReply } from './show-reply.js';

export function sessionCommand(program: Command): void {
  const session = program
    .command('session')
    .description('Lists and changes the sessions on this NATS server.')
    .examples('throughline session ls', 'throughline session complete demo');

  addRequests(session, {
    'tool.session-list': {
      sets: { brief: false },
      show: ({ sessions }, colours) =>
        sessions.length === 0 ? [] : sessionLines(colours, sessions, undefined, 'no figures yet'),
      remark: ({ sessions, total }) =>
        total === 0
          ? 'no such sessions: one begins with its first result, as "throughline publish" sends it; --archived lists archived ones'
          : shownOf(sessions.length, total, 'session'),
    },
    'tool.session-archive': {
      async send(client, request) {
        const text = String(request.session);
        const { sessions } = await client.tools.sessionList({ text, status: 'archived', brief: true });
        if (sessions.some(({ session }) => session === text)) note('-- it is archived already');
        return client.send('tool.session-archive', request);
      },
      remark: () => 'its earlier prompts cannot be shown any more: its log is one checkpoint now',
    },
    'tool.session-export': false,
    'tool.session-import': false,
    'tool.session-forget': false,
  });
  addExport(session);
  addImport(session);
  addRemove(session);
}

type ForgetOptions = Flags<'yes' | 'withLearnings' | 'json'>;
type Reply = ToolReply<'session-forget'>;

const NOTHING = 'nothing';
const LOOK_MS = 200;

function addRemove(session: Command): void {
  onSession(session.command('rm'))
    .summary('remove a session for good')
    .description(
      'Erases a session for good: its events, results, rejected results, snapshots and prompts, and what names it in\n' +
        'learnings. A session of that name then begins at nothing. Learnings that a person has accepted belong to the project\n' +
        'and stay; --with-learnings removes those that rest on this session alone.',
    )
    .option('-y, --yes', 'do not ask')
    .option('--with-learnings', 'also remove accepted learnings that rest on this session alone')
    .option('--json', 'one line of JSON: the last reply')
    .examples('throughline session rm demo', 'throughline session rm demo --yes')
    .action(async (...given: unknown[]) => {
      const command = given.at(-1) as Command;
      const cli = cliOf(command);
      const name = sessionGiven(cli, command);
      const { yes, json = false, withLearnings = false } = command.opts<ForgetOptions>();
      const nothingLeft = (reply: Reply) =>
        out(json ? JSON.stringify(reply) : `nothing is left of session ${name}: it was removed before`);
      await withClient(cli, async ({ tools }) => {
        const ask = (more: { readonly dryRun?: boolean; readonly confirm?: string }) =>
          tools.sessionForget({ session: name, withLearnings, ...more });
        if (yes !== true) {
          const reply = await ask({ dryRun: true });
          if (reply.forgotten === true) return nothingLeft(reply);
          const found = inWords(reply.found);
          // The request itself says of an unknown session that nothing is stored.
          if (found === NOTHING) return void (await ask({ confirm: name }));
          note(`This erases session ${name} for good: ${found}`);
          if (reply.found.learnings > 0 && !withLearnings)
            note('-- learnings that were accepted stay, without what names this session');
          if (!(await confirmed('Erase it?', yes))) return;
        }
        const reply = await erased((dryRun) => ask({ confirm: name, dryRun }));
        if (reply.forgotten === true) return nothingLeft(reply);
        if (json) return out(JSON.stringify(reply));
        out(`removed session ${name}: ${inWords(reply.found)}`);
        note('-- backups, logs and what agents wrote down elsewhere are not touched');
      });
    });
}

/**
 * Asks until everything is erased. Returns the first reply, with what was found, as done. It asks once, and looks by dry runs:
 * to ask again would erase what came for the next session of the name.
 */
export async function erased(ask: (dryRun: boolean) => Promise<Reply>): Promise<Reply> {
  const progress = progressLine();
  const first = await ask(false);
  for (let { state } = first; state === 'running'; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const seen = await patiently(() => ask(true));
    state = seen.state;
    if (state === 'running') progress(`erasing: ${inWords(seen.found)} left`);
  }
  return { ...first, state: 'done' };
}

const WORDS: Readonly<Record<keyof StoredCounts, readonly [one: string, many: string]>> = {
  events: ['event', 'events'],
  dispatches: ['result', 'results'],
  rejected: ['rejected result', 'rejected results'],
  snapshots: ['snapshot', 'snapshots'],
  prompts: ['prompt', 'prompts'],
  index: ['index entry', 'index entries'],
  learnings: ['entry of learnings', 'entries of learnings'],
};

function inWords(counts: StoredCounts): string {
  const kinds = (Object.keys(WORDS) as (keyof StoredCounts)[]).filter((kind) => counts[kind] > 0);
  const texts = kinds.map((kind) => counted(counts[kind], ...WORDS[kind]));
  return texts.length === 0 ? NOTHING : texts.join(', ');
}

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

/** Asks before a rule by which sessions would be forgotten now. Without consent the rules stay. */
async function setRule({ tools }: ThroughlineClient, { yes, ...given }: { readonly yes?: true }) {
  const rule = given as Parameters<ThroughlineClient['tools']['retentionSet']>[0];
  const preview = await tools.retentionSet({ ...rule, dryRun: true });
  if (rule.dryRun) {
    note('-- nothing was changed');
    return preview;
  }
  if (yes !== true && preview.forget > 0) {
    for (const line of showReply('tool.retention-show', preview)) note(line);
    if (!(await confirmed('Set this rule?', yes))) return tools.retentionShow({});
  }
  return tools.retentionSet(rule);
}
