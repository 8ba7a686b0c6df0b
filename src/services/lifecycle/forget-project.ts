import { projectOf, type Token } from '../../contracts/names.js';
import type { StoredCounts } from '../../contracts/replies/forget-reply.js';
import type { SessionReader } from '../../folding/session-folding.js';
import type { RewrittenKind } from '../../ports/session-eraser.js';
import { Semaphore } from '../../runtime/semaphore.js';
import type { SessionTable } from '../common/session-table.js';
import { begin, isAtIt } from './forget-claim.js';
import { countsOf, forgetProjectLearnings } from './forget-learnings.js';
import {
  countedOf,
  eraseSession,
  type ForgetPorts,
  finishForgetting,
  NOTHING,
  sum,
} from './forget-session.js';

/** Forgets a project: all its sessions, and its learnings. An event without content stays, which says that it was forgotten. */
export interface ForgetProjectPorts extends ForgetPorts {
  readonly table: SessionTable;
  /** Resolves once the table was compared with the logs of all sessions. */
  readonly compared: () => Promise<void>;
  readonly sessions: Pick<SessionReader, 'load'>;
}

const AT_ONCE = 8;

/**
 * The sessions of a project, those that are being forgotten left out. By the index those are passed over that surely belong to
 * another project; all others are read, since what is erased must not hang on an index.
 */
export async function sessionsOf(
  {
    table,
    compared,
    sessions,
    lifecycle,
  }: Pick<ForgetProjectPorts, 'table' | 'compared' | 'sessions' | 'lifecycle'>,
  project: Token,
): Promise<Token[]> {
  await compared();
  const turns = new Semaphore(AT_ONCE);
  const found = [...table.rows()].map((row) =>
    turns.run(async () => {
      const { session, known } = row;
      if (lifecycle.forgotten(session)?.status === 'forgetting') return [];
      const record = lifecycle.archived(session);
      const isOurs = known !== undefined && projectOf(known.project) === project;
      // Until its events are all there it cannot be read.
      if (record?.importing !== undefined) return [];
      const isElsewhere = known !== undefined && !isOurs;
      if (isElsewhere && !table.isStale(row)) return [];
      const { state } = (await sessions.load(session)).folded;
      return projectOf(state.charter.project) === project ? [session] : [];
    }),
  );
  return (await Promise.all(found)).flat();
}

/** What there is of a project and its sessions. */
export async function storedOfProject(
  ports: ForgetProjectPorts,
  project: Token,
  sessions: readonly Token[],
): Promise<StoredCounts> {
  const { state } = (await ports.projects.load(project)).folded;
  let all: StoredCounts = sum(NOTHING, countsOf(state));
  for (const session of sessions) all = sum(all, await countedOf(ports, session));
  return all;
}

/** Forgets a project with these sessions. Gives how much was erased. Throws as `eraseSession`. */
export async function forgetProject(
  ports: ForgetProjectPorts,
  project: Token,
  sessions: readonly Token[],
  by: string,
  onErased: (erased: StoredCounts) => void,
): Promise<StoredCounts> {
  // All of them first: so each will be forgotten, and the learnings with the last, whatever happens to this process.
  for (const session of sessions) await begin(ports, session, { by, project });
  let learnings = sum(NOTHING, await forgetProjectLearnings(ports, project));
  const told = (erased: StoredCounts) => onErased(sum(erased, learnings));
  const erased = await forgetAll(ports, sessions, by, told, async () => {
    // What was learned from them meanwhile.
    learnings = sum(learnings, await forgetProjectLearnings(ports, project));
  });
  return sum(erased, learnings);
}

/** Goes on with what a process that is gone has begun. Gives how many sessions it was. Throws as `eraseSession`. */
export async function resumeForgets(ports: ForgetPorts, by: string): Promise<number> {
  const left = ports.lifecycle.unfinished().filter((session) => !isAtIt(ports, session));
  if (left.length === 0) return 0;
  await ports.eraser.check();
  const projects = new Set(left.flatMap((session) => ports.lifecycle.forgotten(session)?.project ?? []));
  const last = async () => {
    for (const project of projects) await forgetProjectLearnings(ports, project);
  };
  await forgetAll(ports, left, by, () => {}, last, 'as recorded');
  return left.length;
}

/** Forgets sessions, some at a time. Gives how much was erased of them. */
async function forgetAll(
  ports: ForgetPorts,
  sessions: readonly Token[],
  by: string,
  onErased: (erased: StoredCounts) => void,
  last: () => Promise<void>,
  /** Whether a session that has moved is spared, where its record says so. */
  spares: 'none' | 'as recorded' = 'none',
): Promise<StoredCounts> {
  let done: StoredCounts = NOTHING;
  const under = new Map<Token, StoredCounts>();
  const told = () => onErased([...under.values()].reduce((all, each) => sum(all, each), done));
  const rewrite = new Set<RewrittenKind>(['learnings']);
  const releases: (() => Promise<void>)[] = [];
  const names: Token[] = [];
  const turns = new Semaphore(AT_ONCE);
  const erasing = sessions.map((session) =>
    turns.run(async () => {
      const onErasedHere = (erased: StoredCounts) => {
        under.set(session, erased);
        told();
      };
      const unlessMoved = spares === 'none' ? undefined : ports.lifecycle.forgotten(session)?.unless_moved;
      const ended = await eraseSession(ports, session, { by, unlessMoved, onErased: onErasedHere });
      under.delete(session);
      if (ended === undefined) return;
      releases.push(ended.release);
      names.push(session);
      for (const kind of ended.rewrite) rewrite.add(kind);
      done = sum(done, ended.erased);
      told();
    }),
  );
  try {
    const ended = await Promise.allSettled(erasing);
    const failed = ended.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    await last();
    await finishForgetting(ports, names, rewrite, by);
  } finally {
    for (const release of releases) await release();
  }
  return done;
}
