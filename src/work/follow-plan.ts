import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { codeOf, messageOf, ThroughlineError } from '../contracts/errors.js';
import { projectOf, type Token, token } from '../contracts/names.js';
import type { RunStatusReply } from '../contracts/replies/run-reply.js';
import { readPlan } from '../engine/files/local-tasks-file.js';
import { replaceFile } from '../engine/files/text-file.js';
import { specNameOf } from '../ledger/progress-ledger.js';
import { tickedPlan } from '../ledger/tasks-md/tick.js';
import { hashOf } from '../shared/hash.js';
import type { Asking } from './session-tasks.js';

/** The session of a plan that no one has named one for: `parser` for `specs/parser/tasks.md`. */
export function sessionOfPlan(plan: string): Token {
  return projectOf(specNameOf(resolve(plan)));
}

/** The plan that a run works on. */
interface FollowedPlan {
  /** Absolute path; undefined where the session follows none, or one whose file is not known. */
  readonly path?: string;
  /** Sends the text again, where the service does not read the file itself. */
  changed(): Promise<void>;
}

/**
 * Makes the session follow the plan, or finds the one that it follows.
 *
 * @param isNamed false if the session is only named after the plan, whose path may come from a repository of strangers: then it
 * must be new, or follow this plan already, at a path without links
 * @throws ThroughlineError `usage` where the session follows another plan, or nothing is there to be worked on;
 * `progress_ledger_missing_tasks` and `progress_ledger_parse_failed` for a file that cannot be read
 */
export async function followPlan(
  ask: Asking,
  session: string,
  plan: string | undefined,
  isNamed: boolean,
): Promise<FollowedPlan> {
  token(session, 'session');
  const status = await ask((client) => client.runStatus(session));
  const known = status.run?.source.kind === 'file' ? status.run.source.path : undefined;
  if (plan === undefined) {
    if (status.run === null && status.session.board.total === 0) throw nothingToDo(session);
    return { ...(known !== undefined && { path: known }), async changed() {} };
  }
  const path = resolve(plan);
  const isLinked = !isNamed && (await realpath(path).catch(() => path)) !== path;
  if (isLinked && status.session.sequence > 0) throw notThisPlan(session, path);
  if (known !== undefined && !(await isSameFile(known, path))) throw otherPlan(session, known, path);
  if (!isNamed && known === undefined && !mayFollow(status, path)) throw notThisPlan(session, path);
  const spec = status.run === null ? specNameOf(path) : undefined;
  const pushed = async () => {
    const tasksText = textOf(path);
    await ask((client) => client.initRun({ session, tasksText, spec }));
  };
  if (status.run?.source.kind === 'document') {
    await pushed();
    return { path, changed: pushed };
  }
  try {
    await ask((client) => client.initRun({ session, tasksPath: path, spec }));
    return { path, async changed() {} };
  } catch (error) {
    // A file that is here, and not for the service.
    if (codeOf(error) !== 'progress_ledger_missing_tasks') throw error;
    await pushed();
    return { path, changed: pushed };
  }
}

/** True for a session without events, and for one that follows a plan of this very text. */
function mayFollow({ run, session }: RunStatusReply, path: string): boolean {
  if (run === null) return session.sequence === 0;
  return run.fingerprint.hash === hashOf(textOf(path));
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  const real = (path: string) => realpath(path).catch(() => path);
  return (await real(one)) === (await real(other));
}

function textOf(path: string): string {
  const text = readPlan(path);
  if (typeof text === 'string') return text;
  throw new ThroughlineError('progress_ledger_missing_tasks', `the plan ${path} ${text.fault}`);
}

function nothingToDo(session: string): ThroughlineError {
  return new ThroughlineError(
    'usage',
    `session ${session} has neither a plan nor tasks on its board: name its plan with --plan FILE`,
  );
}

function notThisPlan(session: string, path: string): ThroughlineError {
  return new ThroughlineError(
    'usage',
    `session ${session} is there already, and not known to follow ${path}: name it with --session ${session}, or give another name`,
  );
}

function otherPlan(session: string, known: string, path: string): ThroughlineError {
  return new ThroughlineError(
    'usage',
    `session ${session} follows ${known}, and not ${path}: give the session of this plan another name`,
  );
}

/** Ticks the line of a task in a plan. Gives why it could not, where it could not. */
export async function tickPlan(path: string, task: string): Promise<string | undefined> {
  try {
    const text = readPlan(path);
    if (typeof text !== 'string') return `${path} ${text.fault}`;
    const ticked = tickedPlan(text, task);
    if ('fault' in ticked) return ticked.fault;
    if (ticked.text !== text) replaceFile(path, ticked.text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
