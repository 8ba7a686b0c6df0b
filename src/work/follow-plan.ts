import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf, ThroughlineError, usageError } from '../contracts/errors.js';
import { projectOf, type Token, token } from '../contracts/names.js';
import type { GitVersion } from '../contracts/plan-requests.js';
import { planAt, readPlan } from '../engine/files/local-tasks-file.js';
import { replaceFile } from '../engine/files/user-state.js';
import { specNameOf } from '../ledger/next-task.js';
import { type KnownTasks, tickedPlan } from '../ledger/tasks-md/parse-tasks-md.js';
import { hashOf } from '../shared/hash.js';
import type { Asking } from './session-tasks.js';

/** Returns the default session of a plan: `parser` for `specs/parser/tasks.md`. */
export function sessionOfPlan(plan: string): Token {
  return projectOf(specNameOf(resolve(plan)));
}

interface FollowedPlan {
  /** Absolute path; undefined without a plan, or if its file is unknown. */
  readonly path?: string;
  /** Has the service read the plan again. */
  changed(): Promise<void>;
}

/**
 * Makes the session follow the plan, or finds the plan that it follows.
 *
 * @param isNamed false if the session name comes from the path of the plan, which an untrusted repository may choose: the session
 * must then be new, or already follow this plan at a path without links
 * @param versionOf returns the version of a file in its repository; without it, a clone's plan is that of another repository
 * @throws ThroughlineError `usage` if the session follows another plan, or has no tasks;
 * `progress_ledger_missing_tasks` and `progress_ledger_parse_failed` for a file that cannot be read
 */
export async function followPlan(
  ask: Asking,
  session: string,
  plan: string | undefined,
  isNamed: boolean,
  versionOf: (path: string) => GitVersion | undefined = () => undefined,
): Promise<FollowedPlan> {
  token(session, 'session');
  const { run, session: seen } = await ask((client) => client.runs.status({ session }));
  const known = run?.source.kind === 'file' ? run.source.path : undefined;
  if (plan === undefined) {
    if (run === null && seen.board.total === 0)
      throw usageError(
        `session ${session} has neither a plan nor board tasks: name its plan with --plan FILE`,
      );
    if (known === undefined) return { async changed() {} };
    const changed = () => ask((client) => client.runs.init({ session, tasksPath: known }));
    return { path: known, changed: async () => void (await changed()) };
  }
  const path = resolve(plan);
  // A file that is not there explains more than the session that it would need.
  if (!existsSync(path)) textOf(path);
  const isLinked = !isNamed && (await realpath(path).catch(() => path)) !== path;
  if (isLinked && seen.sequence > 0) throw notThisPlan(session, path);
  const real = (file: string) => realpath(file).catch(() => file);
  // The same file may be known by another path.
  const isKnown = known !== undefined && (known === path || (await real(known)) === (await real(path)));
  const here = isKnown ? undefined : versionOf(path);
  const { file, commits = [] } = run?.version ?? {};
  // A repository chooses the names of its files, but cannot have a commit of another one.
  const isInClone =
    here !== undefined &&
    file === here.file &&
    (isNamed || here.commits.some((commit) => commits.includes(commit)));
  if (known !== undefined && !isKnown && !isInClone)
    throw usageError(
      `session ${session} follows ${known}, not ${path}: use another session name for this plan`,
    );
  const isThis = () => (run === null ? seen.sequence === 0 : run.fingerprint.hash === hashOf(textOf(path)));
  if (!isNamed && known === undefined && !isInClone && !isThis()) throw notThisPlan(session, path);
  const spec = run?.spec ?? specNameOf(path);
  const changed = async () => {
    const request = { session, spec, version: versionOf(path), ...planAt(path) };
    await ask((client) => client.runs.init({ ...request, ...(isKnown && { tasksPath: known }) }));
  };
  await changed();
  return { path, changed };
}

function textOf(path: string): string {
  const text = readPlan(path);
  if (typeof text === 'string') return text;
  throw new ThroughlineError('progress_ledger_missing_tasks', `the plan ${path} ${text.fault}`);
}

function notThisPlan(session: string, path: string): ThroughlineError {
  return usageError(
    `session ${session} already exists and does not follow ${path}: use --session ${session} if it should, or another session name`,
  );
}

/** Ticks the line of a task in a plan. Returns the reason if it cannot. */
export async function tickPlan(path: string, task: string, known?: KnownTasks): Promise<string | undefined> {
  try {
    const text = readPlan(path);
    if (typeof text !== 'string') return `${path} ${text.fault}`;
    const ticked = tickedPlan(text, task, known);
    if ('fault' in ticked) return ticked.fault;
    if (ticked.text !== text) replaceFile(path, ticked.text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
