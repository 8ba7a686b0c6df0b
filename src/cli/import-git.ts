import { type ExecFileException, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf, usageError } from '../contracts/errors.js';
import { RELATIONS } from '../contracts/relations.js';
import type { ResultOf } from '../contracts/results.js';
import { REMEMBERED_RESULTS } from '../memory/session/dispatch-window.js';
import { PUBLISH_TIMEOUT_MS } from '../sdk/persistent-publish.js';
import { hashOf } from '../shared/hash.js';
import { counted, oneLine } from '../shared/text.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { cliOf, out, sessionOf, withClient } from './command-context.js';
import { wholeNumber } from './option-parsers.js';
import { waitingNote } from './output.js';

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
      const repo = { path: options.repo, env: cli.config.env };
      const { commits, shortened } = await readCommits(repo, options);
      const merged = await mergedBranches(repo, options);
      const onWaiting = waitingNote(() => PUBLISH_TIMEOUT_MS);
      const sequence = await withClient(
        cli,
        async (client) => {
          let newest = 0;
          for (let from = 0; from < commits.length; from += IN_FLIGHT) {
            const published = await Promise.all(
              commits
                .slice(from, from + IN_FLIGHT)
                .map((commit) =>
                  client.publishText(session, 'implementer', JSON.stringify(commit), { onWaiting }),
                ),
            );
            newest = Math.max(newest, ...published.map((stored) => stored.sequence));
          }
          if (merged === undefined) return newest;
          const { sequence } = await client.publishText(session, 'observer', merged, { onWaiting });
          return Math.max(newest, sequence);
        },
        { timeoutMs: PUBLISH_TIMEOUT_MS, onWaiting },
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

export interface CommitSelection {
  readonly limit: number;
  readonly branch?: string | undefined;
  readonly since?: string | undefined;
  readonly path?: readonly string[] | undefined;
}

interface Repository {
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Time for git, in milliseconds. Default: a minute. */
  readonly gitMs?: number;
}

// A commit of many thousand files would not fit a dispatch, and gives no more facts than one of this many.
const MAX_FILES = 1000;
/** Bytes of their names as JSON. */
const MAX_FILES_BYTES = 150_000;
/** An event keeps fewer of the files that are gone. */
const MAX_GONE = 100;
/** Characters: an event keeps fewer. */
const MAX_SUBJECT = 10_000;

/**
 * The commits of a repository as results, oldest first; merges are left out, since they change no file. A commit is the
 * same result whatever the selection is.
 *
 * @throws ThroughlineError `usage` with what git says
 */
export async function readCommits(repo: Repository, selection: CommitSelection) {
  const { limit, branch = 'HEAD', since, path = [] } = selection;
  const args = [
    ...['-c', 'log.showSignature=false', 'log', '--no-merges', '--full-diff', '-z', '--name-status', '-M'],
    ...['--encoding=UTF-8', `--max-count=${limit}`, '--format=%x00%H%x00%h%x00%aI%x00%s%x00'],
    ...(since === undefined ? [] : [`--since=${since}`]),
    // A name may pass for an option.
    ...['--end-of-options', branch, '--', ...path],
  ];
  return commitsIn(await git(repo, args));
}

const MERGED =
  /^Merge (?:(?:remote-tracking )?branch '(?:origin\/)?([^']+)'|pull request #\d+ from [^/\s]+\/(\S+))/;
const MAX_MERGED = 50;

/** Returns a result that names the branches of the newest merges; undefined if there is none. */
async function mergedBranches(repo: Repository, { limit, branch = 'HEAD', since }: CommitSelection) {
  const args = ['log', '--merges', `--max-count=${limit}`, '--format=%s'];
  if (since !== undefined) args.push(`--since=${since}`);
  const subjects = await git(repo, [...args, '--end-of-options', branch, '--']);
  const names = subjects.split('\n').flatMap((subject) => {
    const [, name, ofPull = name] = MERGED.exec(subject) ?? [];
    return ofPull ?? [];
  });
  const facts = [...new Set(names)].slice(0, MAX_MERGED).map((name) => ({
    subject: `branch:${name}`,
    relation: RELATIONS.branchEnded,
    object: 'merged',
  }));
  if (facts.length === 0) return undefined;
  return JSON.stringify({ task_id: 'merges', result_id: hashOf(JSON.stringify(facts)), facts });
}

/**
 * Reads the output of `git log`: each commit as a result whose `result_id` is its hash, and how many were too long for a dispatch.
 * Each commit is: empty field, hash, short hash, time, subject, empty field, then its files up to the empty
 * field that opens the next commit. A file is a letter and its path, or R with a number and two paths. A line break stands before the
 * first file. Subject and file may hold anything but NUL.
 */
function commitsIn(output: string) {
  const commits: ResultOf<'implementer'>[] = [];
  let shortened = 0;
  const fields = output.split('\0');
  for (let at = 1; at + 4 < fields.length; ) {
    const [hash = '', name = '', time = '', subject = ''] = fields.slice(at, at + 4);
    const end = fields.indexOf('', at + 5);
    const named = fields.slice(at + 5, end < 0 ? undefined : end);
    const { all, deleted, renamed } = changedFiles(named);
    let room = MAX_FILES_BYTES;
    const files = all.slice(0, MAX_FILES).filter((file) => {
      room -= Buffer.byteLength(JSON.stringify(file));
      return room >= 0;
    });
    if (files.length < all.length || subject.length > MAX_SUBJECT) shortened += 1;
    commits.push({
      task_id: name,
      result_id: hash,
      history: true,
      at: time,
      status: 'completed',
      summary: subject.slice(0, MAX_SUBJECT).toWellFormed() || '(no subject)',
      files_modified: files,
      ...(deleted.length > 0 && { files_deleted: deleted.slice(0, MAX_GONE) }),
      ...(renamed.length > 0 && { files_renamed: renamed.slice(0, MAX_GONE) }),
    });
    at += 5 + named.length + 1;
  }
  return { commits: commits.reverse(), shortened };
}

/** Returns the files of a commit as git names them. The new name of one that was renamed counts as changed. */
function changedFiles(fields: readonly string[]) {
  const [all, deleted, renamed]: [string[], string[], { from: string; to: string }[]] = [[], [], []];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [status = '', path = '', to = ''] = fields.slice(at, at + 3);
    const letter = status.trim()[0];
    if (letter === 'D') deleted.push(path);
    else all.push(letter === 'R' || letter === 'C' ? to : path);
    if (letter === 'R') renamed.push({ from: path, to });
    if (letter === 'R' || letter === 'C') at += 1;
  }
  return { all, deleted, renamed };
}

/**
 * Runs git, which fetches an object that is missing by a program that the settings of the repository name: so it may use no
 * protocol.
 *
 * @throws ThroughlineError `usage` with what git says
 */
async function git({ path, env, gitMs = 60_000 }: Repository, args: readonly string[]): Promise<string> {
  const limits = { timeout: gitMs, killSignal: 'SIGKILL', maxBuffer: Number.POSITIVE_INFINITY } as const;
  const options = { ...limits, env: { ...env, GIT_ALLOW_PROTOCOL: 'none' } };
  const ran = promisify(execFile)('git', ['-C', path, ...args], options);
  const { stdout } = await ran.catch((cause: ExecFileException) => {
    const late = `git did not end within ${gitMs / 1000} s: give --limit, --since or --path`;
    const reason = oneLine(cause.stderr ?? '') || `git cannot be run: ${messageOf(cause)}`;
    throw usageError(`--repo ${path}: ${cause.killed === true ? late : reason}`);
  });
  return stdout;
}
