import { type Command, Option } from 'commander';
import type { CompileRequest, CompileRequestInput } from '../contracts/compile-request.js';
import { ThroughlineError } from '../contracts/errors.js';
import { FACT_TAGS, type FactTag } from '../contracts/fact-tags.js';
import { ROLES, type Role } from '../contracts/kinds.js';
import type { CompileReply } from '../contracts/replies/compile-reply.js';
import { counted } from '../shared/text.js';
import { cliOf, examples, note, out, outForAgent, sessionOf, withClient } from './command-context.js';
import { fraction, wholeNumber } from './option-parsers.js';
import { explanation } from './show-prompt.js';
import { readTemplate } from './template-command.js';

interface CompileOptions {
  readonly session?: string;
  readonly kind: CompileRequest['kind'];
  readonly task?: string;
  readonly prompt?: string;
  readonly template?: string;
  readonly binary?: string;
  readonly extra?: string;
  readonly role?: Role;
  readonly tags?: FactTag[];
  readonly maxFacts?: number;
  readonly maxFiles?: number;
  readonly open?: string[];
  readonly cwd?: string;
  readonly maxTokens?: number;
  readonly room?: number;
  readonly answer?: number;
  readonly fill?: 'relevant' | 'recent';
  readonly after?: number;
  readonly asOf?: number;
  readonly learningsAsOf?: number;
  readonly intent?: string;
  readonly maxLearnings?: number;
  readonly minSimilarity?: number;
  readonly project?: string;
  readonly explain?: boolean;
  readonly json?: boolean;
}

export function compileCommand(program: Command): void {
  program
    .command('compile')
    .description(
      'Asks the prompt-compiler for a prompt. The prompt goes to standard output, a summary of it to standard error.',
    )
    .option('-s, --session <name>', 'session (default: THROUGHLINE_SESSION, else .throughline.json)')
    .addOption(
      new Option('--kind <kind>', 'kind of prompt')
        .choices(['dispatch', 'iteration', 'session-start'])
        .default('dispatch'),
    )
    .option('-t, --task <id>', 'id of the task that the prompt is for')
    .option('-p, --prompt <text>', 'what the agent must do; facts and learnings are chosen to fit it')
    .option('--template <file>', 'iteration: your own template, see `throughline template`')
    .option('--binary <command>', 'the command that agents are told to use (default: throughline)')
    .option('--extra <text>', 'iteration: text at the end of the prompt')
    .addOption(new Option('--role <role>', 'who gets the prompt (default: implementer)').choices(ROLES))
    .addOption(new Option('--tags <tag...>', 'only facts with one of these').choices(FACT_TAGS))
    .option('--max-facts <n>', 'maximum number of facts (default: as many as fit)', wholeNumber(0, 1000))
    .option('--max-files <n>', 'maximum number of likely files (default: 10)', wholeNumber(0, 50))
    .option('--open <path...>', 'files that are open: they and their neighbours are likelier')
    .option('--cwd <folder>', 'where the agent works: files in it are likelier')
    .option(
      '--room <tokens>',
      'tokens that the prompt may have (default: by its kind)',
      wholeNumber(1, 2_000_000),
    )
    .option('--answer <tokens>', 'tokens that the answer may have (default: 1200)', wholeNumber(1, 2_000_000))
    .option(
      '--max-tokens <n>',
      'maximum tokens of session context and learnings (default: as many as fit)',
      wholeNumber(0, 1_000_000),
    )
    .addOption(
      new Option(
        '--fill <facts>',
        'only facts that fit the task, or also the rest, nearest and newest first (default: recent; with --max-facts: relevant)',
      ).choices(['relevant', 'recent']),
    )
    .option(
      '--max-learnings <n>',
      'maximum number of learnings, 0 for none (default: 3; iteration, session-start: 5)',
      wholeNumber(0, 100),
    )
    .option(
      '--min-similarity <n>',
      'minimum similarity of learnings that are found by meaning, 0 to 1',
      fraction,
    )
    .option('--project <name>', "project whose learnings to use (default: the session's own)")
    .option('--after <sequence>', 'wait until this DISPATCH sequence has become facts', wholeNumber(1))
    .option('--as-of <sequence>', 'the prompt as it was at this session sequence', wholeNumber(1))
    .option('--learnings-as-of <sequence>', 'learnings as they were at this project sequence', wholeNumber(1))
    .option('--intent <id>', 'the active intent: its compacted history goes before the prompt')
    .option('--explain', 'show which facts and files were considered, and why each is shown or not')
    .option('--json', 'print the whole reply as JSON')
    .addHelpText(
      'after',
      examples(
        'throughline compile -s demo -t 5.1 -p "Make compile wait for a dispatch" --explain',
        'throughline compile -s demo --kind iteration --max-learnings 10',
        'throughline compile -s demo --kind session-start',
        'throughline compile -s demo -t 5.1 -p "Fix the tests" --tags test error',
        'throughline compile -s demo -t 5.1 -p "…" --after "$(throughline publish reviewer -s demo -f r.json)" --json',
      ),
    )
    .action(async (options: CompileOptions, command: Command) => {
      const cli = cliOf(command);
      const request = await requestOf(sessionOf(cli, options.session), options);
      const reply = await withClient(cli, (client) => client.compile(request), { checkReplies: false });
      if (options.json) return out(JSON.stringify(reply));
      outForAgent(reply.prompt);
      note(summary(reply));
      // The first prompt of a session comes before its first event, so this is not an error.
      if (options.kind !== 'session-start' && reply.sequence === 0)
        note(`-- session ${request.session} does not exist yet: the prompt remembers nothing`);
      for (const line of warnings(reply)) note(line);
      if (options.explain) for (const line of explanation(reply)) note(line);
    });
}

async function requestOf(session: string, options: CompileOptions): Promise<CompileRequestInput> {
  const { kind, task: taskId, prompt: taskPrompt, role, maxFacts, maxTokens, after, asOf, explain } = options;
  const { maxLearnings, minSimilarity, project, learningsAsOf, binary, extra, tags } = options;
  const { maxFiles, open: files, cwd } = options;
  const hints = files === undefined && cwd === undefined ? undefined : { files, cwd };
  const { room: inputTokens, answer: outputTokens, fill } = options;
  const budget =
    inputTokens === undefined && outputTokens === undefined ? undefined : { inputTokens, outputTokens };
  const limits = { maxTokens, maxFiles, hints, budget, binary };
  const chosen = { maxLearnings, minSimilarity, project, learningsAsOf, ...limits };
  // A prompt of the past is the same whenever it is asked for: it says no ages.
  const now = asOf === undefined ? new Date().toISOString() : undefined;
  if (kind === 'session-start') return { kind, session, after, asOf, now, taskPrompt, explain, ...chosen };
  const activeIntentId = options.intent;
  const common = { session, tags, maxFacts, fill, after, asOf, explain, activeIntentId, ...chosen };
  if (kind === 'iteration') {
    const template = options.template === undefined ? undefined : await readTemplate(options.template);
    return { kind, ...common, now, taskId, taskPrompt, template, extra };
  }
  if (taskId === undefined) throw new ThroughlineError('usage', 'no task is named: give --task ID');
  if (taskPrompt === undefined)
    throw new ThroughlineError('usage', 'the task has no prompt: give --prompt TEXT');
  return { ...common, taskId, taskPrompt, role };
}

function summary(reply: CompileReply): string {
  const { factsShown, factsTotal, tokenEstimate, sequence, snapshotSequence, replayed } = reply;
  const { learningsShown, learningsTotal, method, proposalCount, files } = reply;
  const from = snapshotSequence === 0 ? 'no snapshot' : `snapshot ${snapshotSequence}`;
  const shown = [
    `${factsShown} of ${counted(factsTotal, 'fact')}`,
    ...(files.length === 0 ? [] : [counted(files.length, 'likely file')]),
    ...(learningsShown === undefined || (learningsTotal === 0 && reply.kind !== 'session-start')
      ? []
      : [
          `${learningsShown} of ${counted(learningsTotal ?? 0, 'learning')}${learningsShown === 0 ? '' : ` (${method})`}`,
        ]),
    ...(proposalCount === undefined || proposalCount === 0
      ? []
      : [`${counted(proposalCount, 'proposal')} pending`]),
  ];
  return `-- ${shown.join(', ')}, about ${counted(tokenEstimate, 'token')}, session sequence ${sequence} (${from}, ${replayed} replayed)`;
}

/** What a reader of the prompt alone would not notice. */
function warnings(reply: CompileReply): string[] {
  const { budget } = reply;
  const failed = reply.kind === 'session-start' ? undefined : reply.learningsError;
  const ledger = reply.kind === 'dispatch' ? reply.ledger : undefined;
  const short = budget.sections.filter(({ shown, total }) => shown < total);
  const left = short.map(({ name, shown, total }) => `${name} ${shown} of ${total}`);
  const what = left.length === 0 ? '' : `; shown are ${left.join(', ')}`;
  return [
    ...(failed === undefined ? [] : [`-- without learnings: ${failed.message} (${failed.code})`]),
    ...(ledger?.mode === 'ledger_plus_fallback'
      ? [`-- ${ledger.reason}: ${ledger.message ?? 'no details'}`]
      : []),
    ...(budget.used < budget.wanted
      ? [`-- shortened from ${budget.wanted} to ${budget.used} of ${budget.room} tokens${what}`]
      : []),
  ];
}
