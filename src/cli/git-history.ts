import { spawn } from 'node:child_process';
import { ThroughlineError } from '../contracts/errors.js';
import type { ResultOf } from '../contracts/results.js';

/** Which commits of a repository are read. */
export interface CommitSelection {
  /** The newest so many. */
  readonly limit: number;
  /** A branch, tag or commit. Default: what is checked out. */
  readonly branch?: string | undefined;
  /** A date as git reads it. */
  readonly since?: string | undefined;
  /** Only commits that change one of these. */
  readonly path?: readonly string[] | undefined;
}

/** A commit as a result; its `result_id` is its hash. */
export type CommitResult = ResultOf<'implementer'> & { readonly result_id: string };

// A commit of many thousand files would not fit a dispatch, and gives no more facts than one of this many.
const MAX_FILES = 1000;

/**
 * The commits of a repository as results, oldest first; merges are left out, since they change no file. A commit is the
 * same result whatever the selection is.
 *
 * @throws ThroughlineError `usage` that names the option which git does not understand
 */
export async function readCommits(repo: string, selection: CommitSelection): Promise<CommitResult[]> {
  const { limit, branch, since, path = [] } = selection;
  // The commit itself, and not its name: a name may pass for an option.
  const commit = branch === undefined ? 'HEAD' : await commitOf(repo, branch);
  if (since !== undefined) await checkDate(repo, since);
  const log = await gitOf(repo, [
    ...['-c', 'log.showSignature=false', 'log', '--no-merges', '--full-diff', '-z', '--name-only'],
    ...['--encoding=UTF-8', `--max-count=${limit}`, '--format=%x00%H%x00%h%x00%s%x00'],
    ...(since === undefined ? [] : [`--since=${since}`]),
    ...[commit, '--', ...path],
  ]);
  return parseLog(log).reverse();
}

async function commitOf(repo: string, branch: string): Promise<string> {
  const unknown = `--branch ${branch}: git knows no such branch, tag or commit in ${repo}`;
  // No ref begins with a dash.
  const found = branch.startsWith('-')
    ? undefined
    : await git(repo, ['rev-parse', '--verify', '--quiet', `${branch}^{commit}`]);
  if (found?.ok) return found.stdout.trim();
  // Without a message, it was the name that git did not know.
  throw new ThroughlineError('usage', found?.stderr ? `--repo ${repo}: ${found.stderr}` : unknown);
}

/** `git log` takes what it cannot read for now, and finds nothing; the settings of git are read more strictly. */
async function checkDate(repo: string, since: string): Promise<void> {
  const asSetting = ['-c', `throughline.since=${since}`, 'config', '--type=expiry-date', 'throughline.since'];
  if ((await git(repo, asSetting)).ok) return;
  throw new ThroughlineError(
    'usage',
    `--since ${since}: git knows no such date: use one such as 2026-01-31 or "3 months ago"`,
  );
}

/**
 * Each commit reads: empty field, hash, short hash, subject, empty field, then its files up to the empty field that opens
 * the next commit. A line break stands before the first file. Any of subject and file may hold anything but NUL.
 */
function parseLog(log: string): CommitResult[] {
  const fields = log.split('\0');
  const commits: CommitResult[] = [];
  let at = 0;
  while (fields[at] === '' && fields[at + 1]) {
    const [hash = '', name = '', subject = ''] = fields.slice(at + 1, at + 4);
    at += 5;
    const firstFile = at;
    while (fields[at]) at += 1;
    const files = fields.slice(firstFile, at);
    if (files[0] !== undefined) files[0] = files[0].slice(1);
    commits.push({
      task_id: name,
      result_id: hash,
      history: true,
      status: 'completed',
      summary: subject || '(no subject)',
      files_modified: files.slice(0, MAX_FILES),
    });
  }
  return commits;
}

async function gitOf(repo: string, args: readonly string[]): Promise<string> {
  const ran = await git(repo, args);
  if (ran.ok) return ran.stdout;
  throw new ThroughlineError('usage', `--repo ${repo}: ${ran.stderr}`);
}

interface GitRun {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

function git(repo: string, args: readonly string[]): Promise<GitRun> {
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
      const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString('utf8');
      resolve({ ok: code === 0, stdout: text(stdout), stderr: text(stderr).trim() });
    });
  });
}
