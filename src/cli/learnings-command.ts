import { type Command, Option } from 'commander';
import picocolors from 'picocolors';
import type { LearningReply } from '../client/learning-replies.js';
import type { ThroughlineClient } from '../client/throughline-client.js';
import { LEARNING_TYPES, type LearningType } from '../contracts/learning-events.js';
import { counted } from '../shared/counted.js';
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
  fraction,
  type Limited,
  nextPage,
  onProject,
  type ProjectOptions,
  projectIn,
  projectOption,
  shownOf,
} from './project-options.js';
import {
  type Colors,
  learningLine,
  outcomeLine,
  proposedLine,
  rankedLine,
  shortId,
} from './show-learning.js';

interface ProposeOptions extends ProjectOptions {
  readonly type: LearningType;
  readonly tags?: string[];
  readonly confidence?: number;
  readonly session?: string;
}

interface EditOptions extends ProjectOptions {
  readonly content?: string;
  readonly type?: LearningType;
  readonly tags?: string[];
}

interface ListOptions extends ProjectOptions, Limited {
  readonly retired?: boolean;
}

interface SearchOptions extends ProjectOptions {
  readonly maxLearnings?: number;
  readonly minSimilarity?: number;
}

/** `throughline learnings …`: what a project has learned; what waits for a decision is under `proposals`. */
export function learningsCommand(program: Command): void {
  const learnings = program
    .command('learnings')
    .description('Learnings are proposals that a person has accepted. Only learnings reach prompts.')
    .addHelpText('after', examples('throughline learnings ls', 'throughline learnings search "write tests"'));
  addReading(learnings);
  addPropose(learnings);
  addChanges(learnings);
}

function addReading(learnings: Command): void {
  onProject(learnings.command('ls'))
    .description('Lists the learnings of a project, the newest first.')
    .option('--retired', 'those that were superseded or retracted, and why')
    .option('--limit <n>', 'maximum number to show (default: 200)', wholeNumber(1, 1000))
    .option('--page <id>', 'show the page after this id: each page but the last names the next one')
    .addHelpText(
      'after',
      examples('throughline learnings ls', 'throughline learnings ls --project shop --json'),
    )
    .action(async (options: ListOptions, self: Command) => {
      const cli = cliOf(self);
      const { retired, limit, page: cursor } = options;
      const request = { ...projectIn(cli, options), retired, limit, cursor };
      const reply = await withClient(cli, (client) => client.learnings.list(request));
      if (options.json) return out(JSON.stringify(reply));
      for (const each of reply.learnings) out(learningLine(colours(cli), each), coloured(cli));
      note(listed(reply, retired ?? false, projectOption(cli, reply.project)));
    });

  onProject(learnings.command('search'))
    .description('Finds the learnings that are relevant to a text, as prompts do.')
    .argument('<text>', 'text to search by')
    .option('--max-learnings <n>', 'maximum number to show', wholeNumber(0, 100))
    .option(
      '--min-similarity <n>',
      'minimum similarity of learnings that are found by meaning, 0 to 1',
      fraction,
    )
    .addHelpText('after', examples('throughline learnings search "handle errors in the parser"'))
    .action(async (query: string, options: SearchOptions, self: Command) => {
      const cli = cliOf(self);
      const { maxLearnings: maxResults, minSimilarity } = options;
      const request = { ...projectIn(cli, options), query, maxResults, minSimilarity };
      const reply = await withClient(cli, (client) => client.learnings.search(request));
      if (options.json) return out(JSON.stringify(reply));
      for (const each of reply.results) out(rankedLine(colours(cli), each), coloured(cli));
      note(
        `-- ${reply.results.length} of ${counted(reply.total, 'learning')} of project ${reply.project}, ${reply.method}`,
      );
    });
}

function listed(
  { learnings, project, total, next }: LearningReply<'learning.list'>,
  retired: boolean,
  option: string,
): string {
  if (learnings.length > 0) {
    const kind = retired ? 'retired learning' : 'learning';
    return `-- ${shownOf(learnings.length, total, kind)} of project ${project}${nextPage(next)}`;
  }
  if (retired) return `-- project ${project} has no retired learnings`;
  return `-- project ${project} has no learnings yet: "throughline proposals ls${option}" shows what waits for a decision`;
}

function addPropose(learnings: Command): void {
  onProject(learnings.command('propose'))
    .description('Proposes a learning. It reaches prompts only after a person accepts it.')
    .argument('<text>', 'one sentence of at most 200 characters')
    .addOption(new Option('--type <type>', 'kind of learning').choices(LEARNING_TYPES).default('insight'))
    .option('--tags <tag...>', 'words to find it by')
    .option('--confidence <n>', 'confidence, 0 to 1', fraction)
    .option('-s, --session <name>', 'the session that it comes from')
    .addHelpText(
      'after',
      examples(
        'throughline learnings propose "Run the linter before you hand in" --type pattern --tags lint',
      ),
    )
    .action(async (content: string, options: ProposeOptions, self: Command) => {
      const cli = cliOf(self);
      const { type, tags, confidence, session } = options;
      const source = session === undefined ? undefined : { session };
      const request = { ...projectIn(cli, options), content, type, tags, confidence, source };
      const reply = await withClient(cli, (client) => client.learnings.propose(request));
      if (options.json) return out(JSON.stringify(reply));
      out(proposedLine(colours(cli), reply), coloured(cli));
      if (reply.proposal.status === 'pending')
        note(
          `-- "throughline proposals accept ${shortId(reply.proposal.id)}${projectOption(cli, reply.project)}" makes it a learning`,
        );
    });
}

function addChanges(learnings: Command): void {
  deciding(learnings.command('edit'))
    .description('Changes a learning or a pending proposal.')
    .argument('<id>', 'its id, or a prefix of at least 3 characters')
    .option('--content <text>', 'new text')
    .addOption(new Option('--type <type>', 'kind of learning').choices(LEARNING_TYPES))
    .option('--tags <tag...>', 'new tags, in place of all present ones')
    .addHelpText(
      'after',
      examples('throughline learnings edit abc12 --content "Run the linter and the tests"'),
    )
    .action(async (id: string, options: EditOptions, self: Command) => {
      const cli = cliOf(self);
      const { content, type, tags } = options;
      const request = { ...projectIn(cli, options), ...deciderIn(options), id, content, type, tags };
      const reply = await withClient(cli, (client) => client.learnings.edit(request));
      if (options.json) return out(JSON.stringify(reply));
      out(learningLine(colours(cli), reply.learning ?? reply.proposal), coloured(cli));
    });

  changing(
    deciding(learnings.command('supersede'))
      .description('Replaces a learning by another one.')
      .argument('<id>', 'the learning to retire')
      .argument('<replacement>', 'the learning that takes its place')
      .addHelpText('after', examples('throughline learnings supersede abc12 def45')),
    (client, [id = '', replacement = ''], common) =>
      client.learnings.supersede({ ...common, id, replacement }),
  );

  changing(
    deciding(learnings.command('retract'))
      .description('Retracts a learning: it stays on record, but no longer reaches prompts.')
      .argument('<id>', 'its id, or a prefix of at least 3 characters')
      .option('--reason <text>', 'why')
      .addHelpText('after', examples('throughline learnings retract abc12 --reason "We use biome now"')),
    (client, [id = ''], common, { reason }) => client.learnings.retract({ ...common, id, reason }),
  );
}

interface Reasoned extends ProjectOptions {
  readonly reason?: string;
}
type Change = (
  client: ThroughlineClient,
  ids: readonly string[],
  common: { readonly project?: string; readonly by?: string },
  options: Reasoned,
) => ReturnType<ThroughlineClient['learnings']['retract']>;

function changing(command: Command, change: Change): void {
  command.action(async () => {
    const cli = cliOf(command);
    const options = command.opts<Reasoned>();
    const common = { ...projectIn(cli, options), ...deciderIn(options) };
    const reply = await withClient(cli, (client) => change(client, command.args, common, options));
    out(options.json ? JSON.stringify(reply) : outcomeLine(colours(cli), reply), coloured(cli));
  });
}

function colours(cli: Cli): Colors {
  return picocolors.createColors(coloured(cli));
}
