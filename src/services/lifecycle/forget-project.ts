import { projectOf, type Token } from '../../contracts/names.js';
import type { StoredCounts } from '../../contracts/replies/lifecycle-replies.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import type { SessionTable } from '../common/session-table.js';
import { countsOf } from './forget-learnings.js';
import { countedOf, type ForgetPorts, NOTHING, sum } from './forget-session.js';

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
