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

/** A repository, and the environment that git runs in. */
interface Repository {
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The commits that were read. */
export interface History {
  readonly commits: readonly CommitResult[];
  /** Number of commits with a subject or file list too long for a dispatch. */
  readonly shortened: number;
}

/** A commit as a result; its `result_id` is its hash. */
export type CommitResult = ResultOf<'implementer'> & { readonly result_id: string };

// A commit of many thousand files would not fit a dispatch, and gives no more facts than one of this many.
const MAX_FILES = 1000;
/** Bytes of their names as JSON. */
const MAX_FILES_BYTES = 150_000;
/** Characters: an event keeps fewer. */
const MAX_SUBJECT = 10_000;
/** Bytes of any field that are read. */
const MAX_FIELD = 65_536;

/**
 * The commits of a repository as results, oldest first; merges are left out, since they change no file. A commit is the
 * same result whatever the selection is.
 *
 * @throws ThroughlineError `usage` that names the option which git does not understand
 */
export async function readCommits(repo: Repository, selection: CommitSelection): Promise<History> {
  const { limit, branch, since, path = [] } = selection;
  // The commit itself, and not its name: a name may pass for an option.
  const commit = branch === undefined ? 'HEAD' : await commitOf(repo, branch);
  if (since !== undefined) await checkDate(repo, since);
  const reader = new CommitReader();
  const args = [
    ...['-c', 'log.showSignature=false', 'log', '--no-merges', '--full-diff', '-z', '--name-only'],
    ...['--encoding=UTF-8', `--max-count=${limit}`, '--format=%x00%H%x00%h%x00%s%x00'],
    ...(since === undefined ? [] : [`--since=${since}`]),
    ...[commit, '--', ...path],
  ];
  const ran = await git(repo, args, (chunk) => reader.read(chunk));
  if (!ran.ok) throw new ThroughlineError('usage', `--repo ${repo.path}: ${ran.stderr}`);
  const { commits, shortened } = reader;
  return { commits: commits.reverse(), shortened: shortened.size };
}

async function commitOf(repo: Repository, branch: string): Promise<string> {
  const unknown = `--branch ${branch}: git knows no such branch, tag or commit in ${repo.path}`;
  // No ref begins with a dash.
  const found = branch.startsWith('-')
    ? undefined
    : await git(repo, ['rev-parse', '--verify', '--quiet', `${branch}^{commit}`]);
  if (found?.ok) return found.stdout.trim();
  // Without a message, it was the name that git did not know.
  throw new ThroughlineError('usage', found?.stderr ? `--repo ${repo.path}: ${found.stderr}` : unknown);
}

/** `git log` takes what it cannot read for now, and finds nothing; the settings of git are read more strictly. */
async function checkDate(repo: Repository, since: string): Promise<void> {
  const asSetting = ['-c', `throughline.since=${since}`, 'config', '--type=expiry-date', 'throughline.since'];
  if ((await git(repo, asSetting)).ok) return;
  throw new ThroughlineError(
    'usage',
    `--since ${since}: git knows no such date: use one such as 2026-01-31 or "3 months ago"`,
  );
}

/**
 * Reads commits from the output of `git log` as it comes, so that no field has to fit into memory. Each commit reads: empty field,
 * hash, short hash, subject, empty field, then its files up to the empty field that opens the next commit. A line break stands
 * before the first file. Any of subject and file may hold anything but NUL.
 */
class CommitReader {
  readonly commits: CommitResult[] = [];
  /** Commits of which something was left out. */
  readonly shortened = new Set<string>();
  #field: Buffer[] = [];
  #bytes = 0;
  /** Index of the next field within its commit. */
  #place = 0;
  #hash = '';
  #name = '';
  #files: string[] = [];
  #room = 0;

  read(chunk: Buffer): void {
    for (let from = 0; from < chunk.length; ) {
      const nul = chunk.indexOf(0, from);
      const part = chunk.subarray(from, nul < 0 ? chunk.length : nul);
      if (this.#bytes < MAX_FIELD) this.#field.push(part);
      this.#bytes += part.length;
      from += part.length + (nul < 0 ? 0 : 1);
      if (nul >= 0) this.#ended();
    }
  }

  #ended(): void {
    const text = Buffer.concat(this.#field).toString('utf8');
    const isWhole = this.#bytes <= MAX_FIELD;
    this.#field = [];
    this.#bytes = 0;
    if (this.#place > 4 && text === '') this.#place = 0;
    const place = this.#place;
    this.#place += 1;
    if (place === 1) this.#hash = text;
    else if (place === 2) this.#name = text;
    else if (place === 3) this.#opens(text);
    else if (place > 4) this.#takesFile(place === 5 ? text.slice(1) : text, isWhole);
  }

  #opens(subject: string): void {
    if (subject.length > MAX_SUBJECT) this.shortened.add(this.#hash);
    this.#files = [];
    this.#room = MAX_FILES_BYTES;
    this.commits.push({
      task_id: this.#name,
      result_id: this.#hash,
      history: true,
      status: 'completed',
      summary: subject.slice(0, MAX_SUBJECT).toWellFormed() || '(no subject)',
      files_modified: this.#files,
    });
  }

  #takesFile(file: string, isWhole: boolean): void {
    this.#room -= Buffer.byteLength(JSON.stringify(file));
    if (isWhole && this.#room >= 0 && this.#files.length < MAX_FILES) this.#files.push(file);
    else this.shortened.add(this.#hash);
  }
}

interface GitRun {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs git, which fetches an object that is missing by a program that the settings of the repository name: so it may use no
 * protocol.
 *
 * @param onOutput gets the output in place of `stdout`
 */
function git(
  { path, env }: Repository,
  args: readonly string[],
  onOutput?: (chunk: Buffer) => void,
): Promise<GitRun> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', ['-C', path, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...env, GIT_ALLOW_PROTOCOL: 'none' },
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', onOutput ?? ((chunk: Buffer) => stdout.push(chunk)));
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
