import { projectOf, type Token } from '../../contracts/names.js';
import type { StoredCounts } from '../../contracts/replies/lifecycle-replies.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import type { SessionTable } from '../common/session-table.js';
import { countsOf } from './forget-learnings.js';
import { countedOf, type ForgetPorts, NOTHING, sum } from './forget-session.js';

/** Forgets a project: its sessions and learnings. An empty event stays as a tombstone. */
export interface ForgetProjectPorts extends ForgetPorts {
  readonly table: SessionTable;
  /** Resolves after comparing the table with all logs. */
  readonly compared: () => Promise<void>;
  readonly sessions: Pick<SessionReader, 'load'>;
}

const AT_ONCE = 8;

/**
 * Returns the sessions of a project, without those being forgotten. The index only excludes sessions that certainly belong to
 * another project; all others are folded, because erasing must not depend on an index.
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
      // An unfinished import cannot be read.
      if (record?.importing !== undefined) return [];
      const isElsewhere = known !== undefined && !isOurs;
      if (isElsewhere && !table.isStale(row)) return [];
      const { state } = (await sessions.load(session)).folded;
      return projectOf(state.charter.project) === project ? [session] : [];
    }),
  );
  return (await Promise.all(found)).flat();
}

/** Counts what is stored of a project and its sessions. */
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
