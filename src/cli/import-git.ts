import type { Command } from 'commander';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import { RuleBasedFactExtractor } from '../memory/facts/fact-extractor.js';
import { REMEMBERED_RESULTS } from '../memory/session/counted-dispatches.js';
import { PUBLISH_TIMEOUT_MS, type PublishOptions } from '../sdk/persistent-publish.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { counted } from '../shared/text.js';
import { cliOf, examples, out, sessionOf, withClient } from './command-context.js';
import { type CommitResult, type CommitSelection, readCommits } from './git-history.js';
import { wholeNumber } from './option-parsers.js';
import { waitingNote } from './output.js';
import { type Progress, showProgress } from './progress-line.js';

interface ImportOptions extends CommitSelection {
  readonly session?: string;
  readonly repo: string;
  readonly json?: boolean;
}

const IN_FLIGHT = 64;

export function addImportGit(result: Command): void {
  result
    .command('import-git')
    .summary('publish the commits of a git repository as results')
    .description(
      "Each commit becomes an implementer's result: its subject is the summary, its files are the files modified.\n" +
        'It counts once, however often it is imported, and opens no ledger: no task waits for its review.',
    )
    .option('-s, --session <name>', 'session (default: THROUGHLINE_SESSION, else .throughline.json)')
    .option('--repo <path>', 'the repository', '.')
    .option('--branch <ref>', 'its branch, tag or commit (default: what is checked out)')
    .option('--since <date>', 'only commits since then, such as 2026-01-31 or "3 months ago"')
    .option('--path <pathspec...>', 'only commits that change one of these')
    .option(
      '--limit <n>',
      `how many of the newest commits to import: at most ${REMEMBERED_RESULTS}, as many results as a session remembers`,
      wholeNumber(1, REMEMBERED_RESULTS),
      200,
    )
    .option('--json', 'print {"commits":N,"shortened":N,"known":N,"sequence":N,"facts":N,"kept":N}')
    .addHelpText(
      'after',
      examples(
        'throughline result import-git --session demo --repo ../project --limit 500',
        'throughline result import-git --session demo --branch main --since "3 months ago" --path src docs',
      ),
    )
    .action(async (options: ImportOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionOf(cli, options.session);
      const { commits, shortened } = await readCommits({ path: options.repo, env: cli.config.env }, options);
      const progress = showProgress(options.json !== true, 'commit', 'published', commits.length);
      const onWaiting = waitingNote(() => PUBLISH_TIMEOUT_MS);
      const { sequence, known, kept } = await withClient(
        cli,
        async (client) => {
          try {
            const imported = await publishAll(client, session, commits, { progress, onWaiting });
            const shown =
              imported.known === undefined
                ? undefined
                : await ifTold(() => client.tools.sessionShow({ session }));
            return { ...imported, kept: shown?.session.facts };
          } catch (fault) {
            throw withWayOut(fault);
          } finally {
            progress.ended();
          }
        },
        { tries: { timeoutMs: PUBLISH_TIMEOUT_MS, onWaiting } },
      );
      const facts = factsGiven(commits);
      if (options.json)
        out(JSON.stringify({ commits: commits.length, shortened, known, sequence, facts, kept }));
      else if (commits.length === 0) out('0 commits imported: none was found');
      else {
        const before = known ? `, ${known} of them were known already` : '';
        out(`${counted(commits.length, 'commit')} imported${before}; the last one is result ${sequence}`);
        if (shortened > 0)
          out(
            `${counted(shortened, 'commit')} shortened: a subject or list of files was too long for a result`,
          );
        const given = `they give ${counted(facts, 'fact')}`;
        if (kept === undefined) out(`${given}; what the session knew of them it did not say in time`);
        else out(`${given}; the session now holds ${counted(kept, 'valid fact')} in all`);
      }
    });
}

interface Imported {
  /** Sequence of the last dispatch. */
  readonly sequence: number;
  /** Commits that had counted before; undefined where the session did not say so in time. */
  readonly known: number | undefined;
}

/** Publishes commits, and asks the session what became of them. */
async function publishAll(
  client: ThroughlineClient,
  session: Token,
  commits: readonly CommitResult[],
  { progress, onWaiting }: { progress: Progress } & Pick<PublishOptions, 'onWaiting'>,
): Promise<Imported> {
  let sequence = 0;
  let known: number | undefined = 0;
  for (let from = 0; from < commits.length; from += IN_FLIGHT) {
    const batch = commits.slice(from, from + IN_FLIGHT);
    const published = await Promise.all(
      batch.map((commit) =>
        client.publishText(session, 'implementer', JSON.stringify(commit), { onWaiting }),
      ),
    );
    const sequences = published.map((each) => each.sequence);
    sequence = Math.max(sequence, ...sequences);
    // While the session still tells a repetition apart.
    if (known !== undefined) {
      const repeated = await ifTold(() => repetitions(client, session, sequences));
      known = repeated === undefined ? undefined : known + repeated;
    }
    progress.reached(from + batch.length);
  }
  return { sequence, known };
}

/** Counts the dispatches that changed nothing. */
async function repetitions(
  client: ThroughlineClient,
  session: Token,
  dispatches: readonly number[],
): Promise<number> {
  const results = await Promise.all(
    dispatches.map((dispatch) => client.tools.dispatchShow({ session, dispatch })),
  );
  // A dispatch just stored that left nothing was a repetition.
  return results.filter(({ status }) => status === 'repeated' || status === 'counted').length;
}

/** Returns undefined if no service answers in time: the commits are stored anyway. */
async function ifTold<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (fault) {
    const codes: readonly string[] = ['unavailable', 'not_caught_up', 'rate_limited', 'permission_denied'];
    if (fault instanceof ThroughlineError && codes.includes(fault.code)) return undefined;
    throw fault;
  }
}

/** Which commits were stored is not known: all can be imported again. */
function withWayOut(fault: unknown): unknown {
  if (!(fault instanceof ThroughlineError) || fault.details?.messageId === undefined) return fault;
  const message = `${messageOf(fault.cause)}; run the same command again, and each commit counts once`;
  return new ThroughlineError(fault.code, message, { cause: fault });
}

/** Counts the facts that the commits produce. */
function factsGiven(commits: readonly CommitResult[]): number {
  const rules = new RuleBasedFactExtractor();
  return commits.reduce((given, result) => {
    const { facts, omitted } = rules.extract({ role: 'implementer', result }, result.task_id);
    return given + facts.length + omitted;
  }, 0);
}
