import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf, ThroughlineError, usageError } from '../contracts/errors.js';
import { projectOf, type Token, token } from '../contracts/names.js';
import { needsText, readPlan, requirementsBeside } from '../engine/files/local-tasks-file.js';
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
  /** Has the service read the plan again, or sends the text if it cannot read the file. */
  changed(): Promise<void>;
}

/**
 * Makes the session follow the plan, or finds the plan that it follows.
 *
 * @param isNamed false if the session name comes from the path of the plan, which an untrusted repository may choose: the session
 * must then be new, or already follow this plan at a path without links
 * @throws ThroughlineError `usage` if the session follows another plan, or has no tasks;
 * `progress_ledger_missing_tasks` and `progress_ledger_parse_failed` for a file that cannot be read
 */
export async function followPlan(
  ask: Asking,
  session: string,
  plan: string | undefined,
  isNamed: boolean,
): Promise<FollowedPlan> {
  token(session, 'session');
  const status = await ask((client) => client.runs.status({ session }));
  const known = status.run?.source.kind === 'file' ? status.run.source.path : undefined;
  const reading = (tasksPath: string, spec?: string) => async () => {
    await ask((client) => client.runs.init({ session, tasksPath, spec }));
  };
  if (plan === undefined) {
    if (status.run === null && status.session.board.total === 0)
      throw usageError(
        `session ${session} has neither a plan nor board tasks: name its plan with --plan FILE`,
      );
    return known === undefined ? { async changed() {} } : { path: known, changed: reading(known) };
  }
  const path = resolve(plan);
  // A file that is not there explains more than the session that it would need.
  if (!existsSync(path)) textOf(path);
  const isLinked = !isNamed && (await realpath(path).catch(() => path)) !== path;
  if (isLinked && status.session.sequence > 0) throw notThisPlan(session, path);
  const real = (file: string) => realpath(file).catch(() => file);
  if (known !== undefined && known !== path && (await real(known)) !== (await real(path)))
    throw usageError(
      `session ${session} follows ${known}, not ${path}: use another session name for this plan`,
    );
  const { run } = status;
  const isThis = () =>
    run === null ? status.session.sequence === 0 : run.fingerprint.hash === hashOf(textOf(path));
  if (!isNamed && known === undefined && !isThis()) throw notThisPlan(session, path);
  const spec = run === null ? specNameOf(path) : undefined;
  const pushed = async () => {
    const tasksText = textOf(path);
    const request = { session, spec, tasksText, ...requirementsBeside(path, tasksText) };
    await ask((client) => client.runs.init(request));
  };
  // The same file may be known by another path.
  let changed = run?.source.kind === 'document' ? pushed : reading(known ?? path, spec);
  await changed().catch((error: unknown) => {
    // The service runs on another machine, without this file, or may not read it for this user.
    if (!needsText(error)) throw error;
    changed = pushed;
    return pushed();
  });
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
