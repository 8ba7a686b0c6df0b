import { type Command, Option } from 'commander';
import picocolors from 'picocolors';
import type { LearningReply } from '../client/learning-replies.js';
import type { ThroughlineClient } from '../client/throughline-client.js';
import { ThroughlineError } from '../contracts/errors.js';
import { PROPOSAL_STATUSES } from '../contracts/learning-requests.js';
import { sameText } from '../learnings/learning-text.js';
import { oneLine } from '../shared/text.js';
import {
  type Cli,
  cliOf,
  coloured,
  examples,
  note,
  out,
  wholeNumber,
  withClient,
} from './command-context.js';
import {
  deciderIn,
  deciding,
  type Limited,
  nextPage,
  onProject,
  type ProjectOptions,
  projectIn,
  projectOption,
  shownOf,
} from './project-options.js';
import { addReview } from './review/review-command.js';
import { type Colors, learningLine, outcomeLine, proposalFields, shortId } from './show-learning.js';

interface ListOptions extends ProjectOptions, Limited {
  readonly status: (typeof PROPOSAL_STATUSES)[number] | 'all';
}

interface AcceptOptions extends ProjectOptions {
  readonly merge?: boolean;
  readonly separate?: boolean;
}

interface RejectOptions extends ProjectOptions {
  readonly reason?: string;
}

const ID = 'its id, or a prefix of at least 3 characters';

/** `throughline proposals …`: what becomes a learning when a person accepts it. */
export function proposalsCommand(program: Command): void {
  const proposals = program
    .command('proposals')
    .description('Proposals come from notes, from repeated demands of reviewers, and from people.')
    .addHelpText('after', examples('throughline proposals ls', 'throughline proposals review'));
  addReading(proposals);
  addDeciding(proposals);
  addReview(proposals);
}

function addReading(proposals: Command): void {
  onProject(proposals.command('ls'))
    .description('Lists the proposals of a project, the newest first.')
    .addOption(
      new Option('--status <status>', 'only these').choices([...PROPOSAL_STATUSES, 'all']).default('pending'),
    )
    .option('--limit <n>', 'maximum number to show (default: 200)', wholeNumber(1, 1000))
    .option('--page <id>', 'show the page after this id: each page but the last names the next one')
    .addHelpText(
      'after',
      examples('throughline proposals ls', 'throughline proposals ls --status all --json'),
    )
    .action(async (options: ListOptions, self: Command) => {
      const cli = cliOf(self);
      const { status, limit, page: cursor } = options;
      const request = { ...projectIn(cli, options), status, limit, cursor };
      const reply = await withClient(cli, (client) => client.proposals.list(request));
      if (options.json) return out(JSON.stringify(reply));
      for (const each of reply.proposals) out(learningLine(colours(cli), each), coloured(cli));
      note(listed(reply, status, projectOption(cli, reply.project)));
    });

  onProject(proposals.command('show'))
    .description('Shows a proposal with its evidence, and the learning that says nearly the same.')
    .argument('<id>', ID)
    .addHelpText('after', examples('throughline proposals show abc12'))
    .action(async (id: string, options: ProjectOptions, self: Command) => {
      const cli = cliOf(self);
      const reply = await withClient(cli, (client) =>
        client.proposals.show({ ...projectIn(cli, options), id }),
      );
      out(options.json ? JSON.stringify(reply) : proposalFields(colours(cli), reply), coloured(cli));
    });
}

function addDeciding(proposals: Command): void {
  deciding(proposals.command('accept'))
    .description(
      'Makes a proposal a learning. One that says nearly the same as a learning is not added twice.',
    )
    .argument('<id>', ID)
    .option('--merge', 'add its evidence to the learning that says nearly the same')
    .option('--separate', 'keep both')
    .addHelpText(
      'after',
      examples('throughline proposals accept abc12', 'throughline proposals accept abc12 --merge'),
    )
    .action(async (id: string, options: AcceptOptions, self: Command) => {
      const cli = cliOf(self);
      const { merge, separate } = options;
      const request = { ...projectIn(cli, options), ...deciderIn(options), id, merge, separate };
      const reply = await withClient(cli, (client) =>
        client.proposals.accept(request).catch(async (fault: unknown) => {
          throw await withWaysOut(client, request, fault);
        }),
      );
      out(options.json ? JSON.stringify(reply) : outcomeLine(colours(cli), reply), coloured(cli));
    });

  deciding(proposals.command('reject'))
    .description('Rejects a proposal. It stays on record; only a person can propose the same again.')
    .argument('<id>', ID)
    .option('--reason <text>', 'why')
    .addHelpText('after', examples('throughline proposals reject abc12 --reason "True of one module only"'))
    .action(async (id: string, options: RejectOptions, self: Command) => {
      const cli = cliOf(self);
      const { reason } = options;
      const request = { ...projectIn(cli, options), ...deciderIn(options), id, reason };
      const reply = await withClient(cli, (client) => client.proposals.reject(request));
      out(options.json ? JSON.stringify(reply) : outcomeLine(colours(cli), reply), coloured(cli));
    });
}

function listed(
  { proposals, project, total, next: more, rulesPaused, sessionsPaused }: LearningReply<'proposal.list'>,
  status: string,
  option: string,
): string {
  const kind = status === 'all' ? '' : `${status} `;
  if (proposals.length === 0) {
    const origin =
      status === 'accepted' || status === 'rejected'
        ? `"throughline proposals review${option}" decides on pending ones`
        : 'they come from notes and from recurring reviews; "throughline learnings propose" adds one';
    return `-- project ${project} has no ${kind}proposals: ${origin}`;
  }
  const next = proposals.some((each) => each.status === 'pending')
    ? `: "throughline proposals review${option}" decides on them one by one`
    : '';
  const paused = rulesPaused
    ? '\n-- too many are pending: rules propose nothing more until some are decided'
    : sessionsPaused
      ? `\n-- too many are pending: rules propose nothing more of ${sessionsPaused.slice(0, 5).join(', ')} until some are decided`
      : '';
  return `-- ${shownOf(proposals.length, total, `${kind}proposal`)} of project ${project}${next}${paused}${nextPage(more)}`;
}

/** The refusal of a near-duplicate in terms of the command line, with both ways out; any other fault unchanged. */
async function withWaysOut(
  client: ThroughlineClient,
  { project, id }: { readonly project?: string; readonly id: string },
  fault: unknown,
): Promise<unknown> {
  if (!(fault instanceof ThroughlineError) || fault.code !== 'near_duplicate') return fault;
  const { proposal, similar } = await client.proposals.show({
    id,
    ...(project !== undefined && { project }),
  });
  if (similar === null) return fault;
  const same = sameText(proposal.content, similar.content);
  const how = same ? 'the same' : `nearly the same (${similar.similarity.toFixed(2)})`;
  const other = same ? 'or reject the proposal' : 'or --separate to keep both';
  return new ThroughlineError(
    'near_duplicate',
    `learning ${shortId(similar.learning)} says ${how}: ${JSON.stringify(oneLine(similar.content))}. ` +
      `Give --merge to add the evidence to it, ${other}`,
    { cause: fault },
  );
}

function colours(cli: Cli): Colors {
  return picocolors.createColors(coloured(cli));
}
