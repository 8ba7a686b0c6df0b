import { ThroughlineError, usageError } from '../contracts/errors.js';
import type { StoredCounts } from '../contracts/replies/lifecycle-replies.js';
import type { ToolReply } from '../contracts/replies/replies.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { counted } from '../shared/text.js';
import type { Command, Flags } from './cli-command.js';
import { type Cli, cliOf, note, out, withClient } from './command-context.js';
import { agreed, canAsk } from './output.js';
import { patiently, progressLine } from './progress-line.js';
import { onSession, sessionGiven } from './session-argument.js';

/** `session rm` and `admin project rm`: they show what would go before they ask. */

type ForgetOptions = Flags<'yes' | 'withLearnings' | 'json'>;

type Reply = ToolReply<'session-forget'> | ToolReply<'project-forget'>;

const NOTHING = 'nothing';
const LOOK_MS = 200;

export function addRemove(session: Command): void {
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
      const options = command.opts<ForgetOptions>();
      const withLearnings = options.withLearnings === true;
      await forget(cli, options, {
        what: `session ${name}`,
        command: `throughline session rm ${name}`,
        ask: (client, more) => client.tools.sessionForget({ session: name, withLearnings, ...more }),
        name,
        warns: ({ learnings }) =>
          learnings > 0 && !withLearnings
            ? ['learnings that were accepted stay, without what names this session']
            : [],
      });
    });
}

export function projectCommand(program: Command): void {
  const project = program
    .command('project')
    .description('Works on all sessions and learnings of a project.')
    .examples('throughline admin project rm parser');
  project
    .command('rm')
    .summary('remove a project for good')
    .argument('[project]', 'the project (default: THROUGHLINE_PROJECT; without either, nothing is erased)')
    .description(
      'Erases a project for good: all its sessions, as `session rm` does, its learnings and proposals.',
    )
    .option('-y, --yes', 'do not ask')
    .option('--json', 'one line of JSON: the last reply')
    .examples('throughline admin project rm parser', 'throughline admin project rm parser --yes --json')
    .action(async (given: string | undefined, options: ForgetOptions, command: Command) => {
      const cli = cliOf(command);
      const name = given ?? cli.config.project;
      // Most sessions are of the project that no one has named: they do not go by a forgotten word.
      if (name === undefined)
        throw usageError('no project is named: say which, as in "throughline admin project rm default"');
      await forget(cli, options, {
        what: `project ${name}`,
        command: `throughline admin project rm ${name}`,
        ask: (client, more) => client.tools.projectForget({ project: name, ...more }),
        name,
        warns: (_, reply) => ('total' in reply ? [`with ${counted(reply.total, 'session')}`] : []),
      });
    });
}

interface Forgotten {
  readonly what: string;
  /** The command itself, for a hint. */
  readonly command: string;
  readonly name: string;
  readonly ask: (
    client: ThroughlineClient,
    more: { readonly dryRun?: boolean; readonly confirm?: string },
  ) => Promise<Reply>;
  readonly warns: (found: StoredCounts, reply: Reply) => string[];
}

async function forget(cli: Cli, options: ForgetOptions, forgotten: Forgotten): Promise<void> {
  const { what, ask, name } = forgotten;
  await withClient(cli, async (client) => {
    if (options.yes !== true) {
      const reply = await ask(client, { dryRun: true });
      if (reply.forgotten === true) return nothingLeft(options, what, reply);
      if (inWords(reply.found) === NOTHING)
        throw new ThroughlineError(
          'not_found',
          `nothing is stored of ${what}: "throughline session ls" lists what there is`,
        );
      if (!canAsk())
        throw usageError(
          `${what} was not erased: no terminal is attached to confirm it. Use "${forgotten.command} --yes"`,
        );
      note(`This erases ${what} for good: ${inWords(reply.found)}`);
      for (const warning of forgotten.warns(reply.found, reply)) note(`-- ${warning}`);
      if (!(await agreed('Erase it? [y/N] '))) return note('-- nothing was erased');
    }
    const reply = await erased(
      (more) => ask(client, { confirm: name, ...more }),
      options.json !== true,
    ).catch((fault: unknown) => {
      throw mayHaveBegun(fault, forgotten);
    });
    if (reply.forgotten === true) return nothingLeft(options, what, reply);
    if (options.json === true) return out(JSON.stringify(reply));
    out(`removed ${what}: ${inWords(reply.found)}`);
    note('-- backups, logs and what agents wrote down elsewhere are not touched');
  });
}

/**
 * Asks until everything is erased. Returns the first reply, with what was found, as done. It asks once, and looks by dry runs:
 * to ask again would erase what came for the next session of the name.
 */
export async function erased(
  ask: (more: { readonly dryRun: boolean }) => Promise<Reply>,
  isShown: boolean,
): Promise<Reply> {
  const progress = progressLine(isShown);
  const first = await ask({ dryRun: false });
  for (let { state } = first; state === 'running'; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const seen = await patiently(() => ask({ dryRun: true }));
    state = seen.state;
    if (state === 'running') progress(`erasing: ${inWords(seen.found)} left`);
  }
  return { ...first, state: 'done' };
}

/** Explains that an unanswered request may already be running. */
function mayHaveBegun(fault: unknown, { command }: Pick<Forgotten, 'command'>): unknown {
  if (!(fault instanceof ThroughlineError) || fault.code !== 'unavailable') return fault;
  return new ThroughlineError(
    'unavailable',
    `${fault.message}. If it had begun, it goes on by itself as soon as services run: "${command}" shows how far it is`,
    { cause: fault },
  );
}

/** To forget again does not fail. */
function nothingLeft({ json }: ForgetOptions, what: string, reply: Reply): void {
  out(json === true ? JSON.stringify(reply) : `nothing is left of ${what}: it was removed before`);
}

const WORDS: Readonly<Record<keyof StoredCounts, readonly [one: string, many: string]>> = {
  events: ['event', 'events'],
  dispatches: ['result', 'results'],
  rejected: ['rejected result', 'rejected results'],
  snapshots: ['snapshot', 'snapshots'],
  prompts: ['prompt', 'prompts'],
  telemetry: ['record of telemetry', 'records of telemetry'],
  index: ['index entry', 'index entries'],
  learnings: ['entry of learnings', 'entries of learnings'],
};

const KINDS = Object.keys(WORDS) as (keyof StoredCounts)[];

/** `1,204 events, 1,198 results`: what is not zero. */
function inWords(counts: StoredCounts): string {
  const said = KINDS.filter((kind) => counts[kind] > 0).map((kind) => counted(counts[kind], ...WORDS[kind]));
  return said.length === 0 ? NOTHING : said.join(', ');
}
