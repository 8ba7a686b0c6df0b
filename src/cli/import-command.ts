import type { Command } from 'commander';
import {
  PUBLISH_TIMEOUT_MS,
  type PublishOptions,
  type ThroughlineClient,
} from '../client/throughline-client.js';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import { RuleBasedFactExtractor } from '../facts/fact-extractor.js';
import { recordedEvent } from '../services/extractor/extractor-worker.js';
import { evolve } from '../session/evolve-session.js';
import { emptyState, factsOf } from '../session/session-state.js';
import { counted } from '../shared/counted.js';
import { cliOf, examples, out, sessionOf, withClient } from './command-context.js';
import { type CommitResult, type CommitSelection, readCommits } from './git-history.js';
import { wholeNumber } from './option-parsers.js';
import { type Progress, showProgress } from './progress-line.js';
import { waitingNote } from './waiting-note.js';

interface ImportOptions extends CommitSelection {
  readonly session?: string;
  readonly repo: string;
  readonly json?: boolean;
}

const IN_FLIGHT = 64;

export function importCommand(program: Command): void {
  program
    .command('import')
    .description('Publishes existing knowledge as results of a session.')
    .addHelpText('after', examples('throughline import git --session demo --repo ../project'))
    .command('git')
    .description(
      "Each commit becomes an implementer's result: its subject is the summary, its files are the files modified.\n" +
        'It counts once, however often it is imported, and opens no ledger: no task waits for its review.',
    )
    .option('-s, --session <name>', 'session (default: THROUGHLINE_SESSION)')
    .option('--repo <path>', 'the repository', '.')
    .option('--branch <ref>', 'its branch, tag or commit (default: what is checked out)')
    .option('--since <date>', 'only commits since then, such as 2026-01-31 or "3 months ago"')
    .option('--path <pathspec...>', 'only commits that change one of these')
    .option('--limit <n>', 'how many of the newest commits to import', wholeNumber(1, 100_000), 200)
    .option('--json', 'print {"commits":N,"sequence":N,"facts":N,"kept":N}')
    .addHelpText(
      'after',
      examples(
        'throughline import git --session demo --repo ../project --limit 500',
        'throughline import git --session demo --branch main --since "3 months ago" --path src docs',
      ),
    )
    .action(async (options: ImportOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionOf(cli, options.session);
      const commits = await readCommits(options.repo, options);
      const progress = showProgress(options.json !== true, commits.length, 'commit', 'published');
      const onWaiting = waitingNote(() => PUBLISH_TIMEOUT_MS);
      const sequence = await withClient(
        cli,
        async (client) => {
          try {
            return await publishAll(client, session, commits, { progress, onWaiting });
          } catch (fault) {
            throw withWayOut(fault);
          } finally {
            progress.ended();
          }
        },
        { timeoutMs: PUBLISH_TIMEOUT_MS, onWaiting },
      );
      const { facts, kept } = keptOf(session, commits);
      if (options.json) out(JSON.stringify({ commits: commits.length, sequence, facts, kept }));
      else if (commits.length === 0) out('0 commits imported: none was found');
      else {
        const imported = `${counted(commits.length, 'commit')} imported; the last one is dispatch ${sequence}`;
        out(`${imported}\nthey give ${counted(facts, 'fact')}, of which the session keeps up to ${kept}`);
      }
    });
}

/** Publishes commits, and gives the sequence of the last. */
async function publishAll(
  client: ThroughlineClient,
  session: Token,
  commits: readonly CommitResult[],
  { progress, onWaiting }: { progress: Progress } & Pick<PublishOptions, 'onWaiting'>,
): Promise<number> {
  let sequence = 0;
  for (let from = 0; from < commits.length; from += IN_FLIGHT) {
    const batch = commits.slice(from, from + IN_FLIGHT);
    const published = await Promise.all(
      batch.map((commit) => client.publishImplementer(session, commit, { onWaiting })),
    );
    sequence = Math.max(sequence, ...published.map((each) => each.sequence));
    progress.reached(from + batch.length);
  }
  return sequence;
}

/** Which commits were stored is not known: all can be imported again. */
function withWayOut(fault: unknown): unknown {
  if (!(fault instanceof ThroughlineError) || fault.details?.messageId === undefined) return fault;
  const message = `${messageOf(fault.cause)}; run the same command again, and each commit counts once`;
  return new ThroughlineError(fault.code, message, { cause: fault });
}

/** How many facts commits give, and how many of them a session keeps that holds nothing else. */
function keptOf(session: Token, commits: readonly CommitResult[]): { facts: number; kept: number } {
  const rules = new RuleBasedFactExtractor();
  const state = emptyState(session);
  let facts = 0;
  for (const [index, result] of commits.entries()) {
    const delivery = { sequence: index + 1, at: new Date(index).toISOString() };
    const event = recordedEvent(delivery, { role: 'implementer', result }, rules);
    facts += event.data.facts.length + (event.data.facts_omitted ?? 0);
    evolve(state, { sequence: index + 1, event });
  }
  return { facts, kept: factsOf(state).size() };
}
