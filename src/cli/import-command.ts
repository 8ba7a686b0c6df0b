import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { ThroughlineError } from '../contracts/errors.js';
import type { ResultOf } from '../contracts/results.js';
import { counted } from '../shared/counted.js';
import { cliOf, examples, note, out, sessionOf, withClient } from './command-context.js';
import { wholeNumber } from './option-parsers.js';

interface ImportOptions {
  readonly session?: string;
  readonly repo: string;
  readonly limit: number;
  readonly json?: boolean;
}

const IN_FLIGHT = 64;

/** A commit is work that is done. */
const IMPORTED_AS = 'implementer';

export function importCommand(program: Command): void {
  program
    .command('import')
    .description('Publishes existing knowledge as results of a session.')
    .addHelpText('after', examples('throughline import git --session demo --repo ../project'))
    .command('git')
    .description(
      "Each commit becomes an implementer's result: its subject is the summary, its files are the files modified.",
    )
    .option('-s, --session <name>', 'session (default: THROUGHLINE_SESSION)')
    .option('--repo <path>', 'the repository', '.')
    .option('--limit <n>', 'how many of the newest commits to import', wholeNumber(1, 100_000), 200)
    .option('--json', 'print {"commits":N,"sequence":N}')
    .addHelpText('after', examples('throughline import git --session demo --repo ../project --limit 500'))
    .action(async (options: ImportOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionOf(cli, options.session);
      const commits = await readCommits(options.repo, options.limit);
      let sequence = 0;
      await withClient(cli, async (client) => {
        for (let from = 0; from < commits.length; from += IN_FLIGHT) {
          const batch = commits.slice(from, from + IN_FLIGHT);
          const published = await Promise.all(
            batch.map((commit) => client.publishResult(session, IMPORTED_AS, commit)),
          );
          sequence = Math.max(sequence, ...published.map((each) => each.sequence));
          note(
            `-- ${Math.min(from + IN_FLIGHT, commits.length)} of ${counted(commits.length, 'commit')} published`,
          );
        }
      });
      if (options.json) out(JSON.stringify({ commits: commits.length, sequence }));
      else out(`${counted(commits.length, 'commit')} imported; the last one is dispatch ${sequence}`);
    });
}

/** The newest commits of a repository as results, oldest first; merges are left out, since they change no file. */
export async function readCommits(repo: string, limit: number): Promise<ResultOf<typeof IMPORTED_AS>[]> {
  const format = '--format=%x00%h%x00%s%x00';
  const log = await git(repo, [
    ...['-c', 'log.showSignature=false', 'log', '--no-merges', '-z', '--name-only', '--encoding=UTF-8'],
    ...[`--max-count=${limit}`, format],
  ]);
  return parseLog(log).reverse();
}

/**
 * Each commit reads: empty field, hash, subject, empty field, then its files up to the empty field that opens the
 * next commit. A line break stands before the first file. Any of subject and file may hold anything but NUL.
 */
function parseLog(log: string): ResultOf<typeof IMPORTED_AS>[] {
  const fields = log.split('\0');
  const commits: ResultOf<typeof IMPORTED_AS>[] = [];
  let at = 0;
  while (fields[at] === '' && fields[at + 1]) {
    const [hash = '', subject = ''] = fields.slice(at + 1, at + 3);
    at += 4;
    const firstFile = at;
    while (fields[at]) at += 1;
    const files = fields.slice(firstFile, at);
    if (files[0] !== undefined) files[0] = files[0].slice(1);
    commits.push(commitResult(hash, subject, files));
  }
  return commits;
}

// A commit of many thousand files would not fit a dispatch, and gives no more facts than one of this many.
const MAX_FILES = 1000;

function commitResult(hash: string, subject: string, files: string[]): ResultOf<typeof IMPORTED_AS> {
  return {
    task_id: hash,
    status: 'completed',
    summary: subject || '(no subject)',
    files_modified: files.slice(0, MAX_FILES),
  };
}

function git(repo: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', ['-C', repo, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.once('error', (cause) => {
      reject(new ThroughlineError('usage', `git cannot be run: ${cause.message}`, { cause }));
    });
    child.once('close', (code) => {
      if (code === 0) return resolve(Buffer.concat(stdout).toString('utf8'));
      const text = Buffer.concat(stderr).toString('utf8').trim();
      reject(new ThroughlineError('usage', `--repo ${repo}: ${text}`));
    });
  });
}
