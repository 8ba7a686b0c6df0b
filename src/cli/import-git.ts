import { messageOf, ThroughlineError } from '../contracts/errors.js';
import { REMEMBERED_RESULTS } from '../memory/session/dispatch-window.js';
import { PUBLISH_TIMEOUT_MS } from '../sdk/persistent-publish.js';
import { counted } from '../shared/text.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { cliOf, out, sessionOf, withClient } from './command-context.js';
import { type CommitSelection, readCommits } from './git-history.js';
import { wholeNumber } from './option-parsers.js';
import { waitingNote } from './output.js';
import { showProgress } from './progress-line.js';

interface ImportOptions extends CommitSelection, Flags<'json'>, Texts<'session'> {
  readonly repo: string;
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
    .option('--json', 'print {"commits":N,"shortened":N,"sequence":N}')
    .examples(
      'throughline result import-git --session demo --repo ../project --limit 500',
      'throughline result import-git --session demo --branch main --since "3 months ago" --path src docs',
    )
    .action(async (options: ImportOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionOf(cli, options.session);
      const { commits, shortened } = await readCommits({ path: options.repo, env: cli.config.env }, options);
      const progress = showProgress(options.json !== true, 'commit', 'published', commits.length);
      const onWaiting = waitingNote(() => PUBLISH_TIMEOUT_MS);
      const sequence = await withClient(
        cli,
        async (client) => {
          let newest = 0;
          try {
            for (let from = 0; from < commits.length; from += IN_FLIGHT) {
              const batch = commits.slice(from, from + IN_FLIGHT);
              const published = await Promise.all(
                batch.map((commit) =>
                  client.publishText(session, 'implementer', JSON.stringify(commit), { onWaiting }),
                ),
              );
              newest = Math.max(newest, ...published.map((each) => each.sequence));
              progress.reached(from + batch.length);
            }
            return newest;
          } catch (fault) {
            throw withWayOut(fault);
          } finally {
            progress.ended();
          }
        },
        { tries: { timeoutMs: PUBLISH_TIMEOUT_MS, onWaiting } },
      );
      if (options.json) return out(JSON.stringify({ commits: commits.length, shortened, sequence }));
      if (commits.length === 0) return out('0 commits imported: none was found');
      out(`${counted(commits.length, 'commit')} imported; the last one is result ${sequence}`);
      if (shortened > 0)
        out(
          `${counted(shortened, 'commit')} shortened: a subject or list of files was too long for a result`,
        );
    });
}

/** Which commits were stored is not known: all can be imported again. */
function withWayOut(fault: unknown): unknown {
  if (!(fault instanceof ThroughlineError) || fault.details?.messageId === undefined) return fault;
  const message = `${messageOf(fault.cause)}; run the same command again, and each commit counts once`;
  return new ThroughlineError(fault.code, message, { cause: fault });
}
