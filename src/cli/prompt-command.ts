import { givenKey, hookState } from '../agents/hooks/hook-state.js';
import { stateDirOf } from '../config/config.js';
import { installationKey } from '../config/user-server.js';
import type { CompileRequest, CompileRequestInput } from '../contracts/compile-request.js';
import { codeOf, noSuchSession, usageError } from '../contracts/errors.js';
import { EXPLAINED, FACT_TAGS, type FactTag, ROLES, type Role } from '../contracts/kinds.js';
import type { PromptTrace } from '../contracts/prompt-requests.js';
import type { CompileReply } from '../contracts/replies/compile-reply.js';
import { ITERATION_TEMPLATE, ITERATION_VARIABLES } from '../prompt/iteration-template.js';
import { counted, jsonOf, quoted } from '../shared/text.js';
import type { Command, Flags, Numbers, Texts } from './cli-command.js';
import { note, out, outForAgent, withClient } from './command-context.js';
import { localTime, readNamed, wholeNumber } from './option-parsers.js';
import { onSession, requireEvents, SESSION_DEFAULT, sessionFor } from './session-argument.js';
import type { ShowOptions } from './show-prompt.js';

interface CompileOptions
  extends Flags<'new' | 'explain' | 'json'>,
    Texts<'session' | 'task' | 'prompt' | 'template' | 'intent' | 'project'>,
    Numbers<
      | 'maxFacts'
      | 'maxFiles'
      | 'maxLearnings'
      | 'maxTokens'
      | 'room'
      | 'answer'
      | 'after'
      | 'asOf'
      | 'learningsAsOf'
    > {
  readonly kind: CompileRequest['kind'];
  readonly role?: Role;
  readonly tags?: FactTag[];
  readonly open?: string[];
}

export function promptCommand(program: Command): void {
  const prompt = program
    .command('prompt')
    .description(
      'Compiles the next prompt of a session. The prompt is printed on standard output, a summary of it on standard error.',
    )
    .option('-s, --session <name>', `session ${SESSION_DEFAULT}`)
    .choice('--kind <kind>', 'kind of prompt', ['dispatch', 'iteration', 'session-start'], 'dispatch')
    .option('-t, --task <id>', 'id of the task that the prompt is for')
    .option(
      '-p, --prompt <text>',
      'what the agent must do, if plan and board do not say it; facts and learnings fit it',
    )
    .option('--template <file>', 'iteration: your own template, see "throughline prompt template"')
    .choice('--role <role>', 'who gets the prompt (default: implementer)', ROLES)
    .choice('--tags <tag...>', 'only facts with one of these', FACT_TAGS)
    .option('--max-facts <n>', 'maximum number of facts (default: as many as fit)', wholeNumber(0, 1000))
    .option('--max-files <n>', 'maximum number of likely files (default: 10)', wholeNumber(0, 50))
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
    .option(
      '--max-learnings <n>',
      'maximum number of learnings, 0 for none (default: 3; iteration, session-start: 5)',
      wholeNumber(0, 100),
    )
    .option('--project <name>', "project whose learnings to use (default: the session's own)")
    .option('--after <number>', 'wait until the result of this number has become facts', wholeNumber(1))
    .option('--as-of <event>', 'the prompt as it was at this event of the session', wholeNumber(1))
    .option(
      '--learnings-as-of <event>',
      'learnings as they were at this event of the project',
      wholeNumber(1),
    )
    .option('--intent <id>', 'the active intent: its compacted history is placed before the prompt')
    .option('--new', 'also for a session that has no event yet')
    .option('--explain', 'show why each line is there, and which facts and files were left out and why')
    .option('--json', 'print the reply as JSON, with --explain all its parts')
    .examples(
      'throughline prompt -s demo -t 5.1 -p "Make compile wait for a result" --explain',
      'throughline prompt -s demo --kind iteration --max-learnings 10',
      'throughline prompt -s demo --kind session-start',
      'throughline prompt -s demo -t 5.1 -p "Fix the tests" --tags test error',
      'throughline prompt -s demo -t 5.1 -p "…" --after "$(throughline publish reviewer -s demo -f r.json)" --json',
    )
    .action(async (options: CompileOptions, command: Command) => {
      const { cli, session } = await sessionFor(command, false);
      const request = await requestOf(session, options);
      const reply = await withClient(cli, async (client) => {
        const compiled = await client.compile(request).catch(async (error: unknown) => {
          // A name that is wrong explains more than a text that is missing.
          if (options.new !== true && codeOf(error) === 'schema_invalid')
            requireEvents(session, (await client.tools.timelineList({ session, limit: 1 })).sequence);
          throw error;
        });
        const isBegun = compiled.sequence > 0 || options.kind === 'session-start';
        if (!isBegun && options.new !== true) throw noSuchSession(session, '--new compiles its first prompt');
        return compiled;
      });
      if (options.json) return out(JSON.stringify(reply));
      outForAgent(reply.prompt);
      note(summary(reply));
      for (const line of warnings(reply)) note(line);
      if (!options.explain) return;
      const { explanationLines } = await import('./show-prompt.js');
      for (const line of explanationLines(reply)) note(`-- ${line}`);
    });
  // Commander gives options that both have to the command above: these commands read both.
  addList(prompt);
  addShow(prompt);
  addTemplate(prompt);
}

async function requestOf(session: string, options: CompileOptions): Promise<CompileRequestInput> {
  const { kind, task: taskId, prompt: taskPrompt, role, tags, maxFacts, after, asOf } = options;
  const { maxLearnings, maxTokens, project, learningsAsOf, maxFiles } = options;
  const { room: inputTokens, answer: outputTokens } = options;
  const hasBudget = inputTokens !== undefined || outputTokens !== undefined;
  const chosen = {
    maxLearnings,
    project,
    learningsAsOf,
    maxTokens,
    maxFiles,
    explain: options.explain === true && options.json === true,
    include: options.explain ? [...EXPLAINED] : undefined,
    budget: hasBudget ? { inputTokens, outputTokens } : undefined,
  };
  // A prompt of the past is the same whenever it is asked for: it says no ages.
  const now = asOf === undefined ? new Date().toISOString() : undefined;
  if (kind === 'session-start') return { kind, session, after, asOf, now, taskPrompt, ...chosen };
  const activeIntentId = options.intent;
  const common = { session, tags, maxFacts, after, asOf, activeIntentId, ...chosen };
  if (kind === 'iteration') {
    const { template: file } = options;
    const template = file === undefined ? undefined : String(await readNamed(file, `template ${file}`));
    return { kind, ...common, now, taskId, taskPrompt, template };
  }
  if (taskId === undefined) throw usageError('no task is named: give --task ID');
  return { ...common, taskId, taskPrompt, role };
}

function summary(reply: CompileReply): string {
  const { factsShown, factsTotal, tokenEstimate, sequence, snapshotSequence, replayed } = reply;
  const { learningsShown, learningsTotal = 0, method, proposalCount = 0, budget } = reply;
  const files = budget.sections.find(({ name }) => name === 'files')?.shown ?? 0;
  const from = snapshotSequence === 0 ? 'no snapshot' : `snapshot ${snapshotSequence}`;
  const hasLearnings = learningsShown !== undefined && (learningsTotal > 0 || reply.kind === 'session-start');
  const how = learningsShown === 0 ? '' : ` (${method})`;
  const shown = [
    `${factsShown} of ${counted(factsTotal, 'fact')}`,
    ...(files === 0 ? [] : [counted(files, 'likely file')]),
    ...(hasLearnings ? [`${learningsShown} of ${counted(learningsTotal, 'learning')}${how}`] : []),
    ...(proposalCount === 0 ? [] : [`${counted(proposalCount, 'proposal')} pending`]),
  ];
  return `-- ${shown.join(', ')}, about ${counted(tokenEstimate, 'token')}, event ${sequence} (${from}, ${replayed} replayed)`;
}

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

interface ListOptions extends Flags<'json'>, Texts<'task'> {
  readonly limit: number;
}

const MOST = 200;

function addList(prompt: Command): void {
  onSession(prompt.command('ls'))
    .summary('list the prompts that were compiled last')
    .description('Lists the prompts that were compiled last, the newest first.')
    .option('--task <id>', 'only prompts of this task')
    .option('--limit <n>', 'maximum number to list', wholeNumber(1, MOST), 50)
    .option('--json', 'one JSON array')
    .examples('throughline prompt ls demo', 'throughline prompt ls demo --task 2.1 --json')
    .action(async (_: string | undefined, _options: object, command: Command) => {
      const { cli, session } = await sessionFor(command);
      const { task, limit, json } = command.optsWithGlobals<ListOptions>();
      const request = { session, limit, task };
      const { prompts, total } = await withClient(cli, async (client) => {
        const found = await client.tools.promptList(request);
        // The ring does not know which sessions exist.
        if (found.total === 0) requireEvents(session, (await client.runs.status({ session })).sequence);
        return found;
      });
      if (json) return out(JSON.stringify(prompts));
      const { printTable } = await import('./request-command.js');
      printTable(cli, PROMPT_HEADINGS, prompts, promptCells);
      const none =
        task === undefined
          ? `"throughline prompt --session ${session}" compiles one`
          : `"throughline prompt ls ${session}" lists those of all tasks`;
      if (total === 0) note(`-- none is kept, as none was compiled ${OR_ERASED}: ${none}`);
      else note(`-- ${prompts.length} of ${counted(total, 'prompt')}`);
    });
}

function addShow(parent: Command): void {
  parent
    .command('show')
    .summary('show a prompt line by line with reasons, and what it left out')
    .description('Prints each line of a prompt with its reason and id, and what was left out.')
    .argument('<id>', 'its id in `prompt ls`, or the beginning of it')
    .option('-s, --session <name>', `session ${SESSION_DEFAULT}`)
    .option('--text', 'the prompt itself')
    .option('--json', 'one JSON object: {prompt, request}; with --text the whole reply')
    .examples(
      'throughline prompt show 4f1c09ab23de --session demo',
      'throughline prompt show 4f1c --session demo --text',
    )
    .action(async (id: string, _: object, command: Command) => {
      const { cli, session } = await sessionFor(command, false);
      const options = command.optsWithGlobals<ShowOptions>();
      const { showPrompt } = await import('./show-prompt.js');
      await withClient(cli, (client) =>
        showPrompt(cli, client, { session, id }, { ...options, whole: true }),
      );
    });
}

export function lastCommand(program: Command): void {
  onSession(program.command('last'))
    .description(
      'Prints what a hook gave an agent last, each line with its reason and id; without hooks, the prompt that was compiled last.',
    )
    .option('--text', 'the prompt itself')
    .option('--json', 'one JSON object: {prompt, request}; with --text the whole reply')
    .examples('throughline last', 'throughline last demo --text')
    .action(async (_: string | undefined, options: ShowOptions, command: Command) => {
      const { cli, session } = await sessionFor(command);
      const { showPrompt } = await import('./show-prompt.js');
      await withClient(cli, async (client) => {
        const { prompts } = await client.tools.promptList({ session, limit: MOST });
        const kept = prompts.filter(({ tokens }) => tokens > 0);
        const key = givenKey(installationKey(cli.server), session);
        const given = jsonOf(hookState(stateDirOf(cli.config.env)).peek(key) ?? '') as ShowOptions['given'];
        // The server, which dates prompts, may have another clock.
        const until = new Date(Date.parse(given?.at ?? '') + 1000);
        const ofHook = given && kept.find(({ at }) => new Date(at) < until);
        const shown = ofHook ?? kept[0];
        const seen = { ...options, given: ofHook && given };
        if (shown !== kept[0]) note(`-- a newer prompt was compiled: "throughline prompt ls ${session}"`);
        if (shown !== undefined) return showPrompt(cli, client, { session, id: shown.id }, seen);
        requireEvents(session, (await client.runs.status({ session })).sequence);
        note(`-- session ${session} keeps no prompt: none was compiled yet, ${OR_ERASED}`);
      });
    });
}

const OR_ERASED = 'or "facts erase" has removed them';

function addTemplate(parent: Command): void {
  parent
    .command('template')
    .summary('print the built-in iteration template')
    .description(
      `Prints the built-in template of iteration prompts, as a start for your own. Placeholders: ${ITERATION_VARIABLES.map((name) => `{{${name}}}`).join(' ')}`,
    )
    .examples('throughline prompt template > my-template.md')
    .action(() => out(ITERATION_TEMPLATE));
}

const PROMPT_HEADINGS = ['ID', 'TIME', 'KIND', 'ROLE', 'TASK', 'EVENT', 'TOKENS', 'FACTS', 'MS'];

function promptCells(_: unknown, prompt: PromptTrace): string[] {
  const { id, at, kind, task = '-', role = '-', sequence, tokens, factsShown, durationMs } = prompt;
  return [
    id,
    localTime(at),
    kind,
    role,
    quoted(task),
    ...[sequence, tokens, factsShown, durationMs].map(String),
  ];
}
