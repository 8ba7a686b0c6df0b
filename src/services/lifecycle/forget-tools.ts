import { checkedRequest } from '../../contracts/checked.js';
import { ThroughlineError } from '../../contracts/errors.js';
import { projectOf, type Token, token } from '../../contracts/names.js';
import type { StoredCounts } from '../../contracts/replies/lifecycle-replies.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { TOOLS } from '../../contracts/tool-requests.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import { ERASED_KINDS, type ErasedCounts, NOTHING_ERASED } from '../../engine/ports/session-lifecycle.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import { recordOf } from '../../shared/text.js';
import type { SessionTable } from '../common/session-table.js';
import {
  beginForgetting,
  changedLearnings,
  type ForgetPorts,
  forgetProjectLearnings,
  isNothing,
} from './forget-session.js';

/**
 * Answers the tools that forget. They only record it: the keeper erases, and a dry run tells if it still does. Repeating the
 * request itself could erase what a new session of the name has received since.
 */
type Answers = {
  readonly [Name in 'session-forget' | 'project-forget']: (request: unknown) => Promise<ToolReply<Name>>;
};

const MAX_NAMED = 1000;
const AT_ONCE = 8;

/** Forgets a project: its sessions and learnings. An empty event stays as a tombstone. */
export interface ForgetToolsPorts extends Omit<ForgetPorts, 'index' | 'pause' | 'logger'> {
  readonly table: SessionTable;
  /** Resolves after comparing the table with all logs. */
  readonly compared: () => Promise<void>;
  readonly sessions: Pick<SessionReader, 'load'>;
}

export function createForgetTools(ports: ForgetToolsPorts): Answers {
  const { lifecycle, eraser } = ports;
  return {
    async 'session-forget'(request) {
      const { confirm, dryRun, withLearnings, ...given } = checkedRequest(
        TOOLS['session-forget'].request,
        request,
      );
      const session = token(given.session, 'session');
      if (!dryRun) confirmed('session', session, confirm);
      const found = await storedOf(ports, session, withLearnings);
      const record = lifecycle.forgotten(session);
      const wasForgotten = record?.status === 'forgotten' && isNothing(found);
      if (dryRun || wasForgotten) {
        const state = record?.status === 'forgetting' ? 'running' : dryRun ? 'counted' : 'done';
        return { session, state, found, ...(wasForgotten && { forgotten: true as const }) };
      }
      // An interrupted import may consist of its record alone.
      const isNamed = record ?? lifecycle.archived(session);
      if (isNothing(found) && isNamed === undefined) throw unknown('session', session, 'session ls');
      await eraser.check();
      await beginForgetting(ports, session, { withLearnings });
      return { session, state: 'running', found };
    },
    async 'project-forget'(request) {
      const { confirm, dryRun, ...given } = checkedRequest(TOOLS['project-forget'].request, request);
      const project = projectOf(token(given.project, 'project'));
      if (!dryRun) confirmed('project', project, confirm);
      const sessions = await sessionsOf(ports, project);
      const { state: learnings } = (await ports.projects.load(project)).folded;
      let erased: ErasedCounts = NOTHING_ERASED;
      for (const session of sessions) erased = sum(erased, await eraser.count(session));
      const found = { ...erased, learnings: learnings.entries.size };
      const isGone = sessions.length === 0 && isNothing(found);
      const isRunning = lifecycle
        .unfinished()
        .some((session) => lifecycle.forgotten(session)?.project === project);
      // An empty event is its tombstone.
      const wasForgotten = isGone && !isRunning && learnings.sequence > 0;
      const reply = {
        ...{ project, sessions: sessions.slice(0, MAX_NAMED), total: sessions.length, found },
        ...(wasForgotten && { forgotten: true as const }),
      };
      if (dryRun) return { ...reply, state: isRunning ? 'running' : 'counted' };
      if (wasForgotten) return { ...reply, state: 'done' };
      if (isGone && !isRunning) throw unknown('project', project, 'session ls --project NAME');
      await eraser.check();
      for (const session of sessions) await beginForgetting(ports, session, { project });
      if (sessions.length > 0 || isRunning) return { ...reply, state: 'running' };
      await forgetProjectLearnings(ports, project);
      await eraser.rewrite('buckets');
      return { ...reply, state: 'done' };
    },
  };
}

/** Counts what forgetting a session would erase. */
async function storedOf(
  ports: Pick<ForgetPorts, 'eraser' | 'learnings' | 'projects'>,
  session: Token,
  withLearnings: boolean,
): Promise<StoredCounts> {
  const learnings = await changedLearnings(ports, session, withLearnings);
  return { ...(await ports.eraser.count(session)), learnings };
}

function sum(one: ErasedCounts, other: ErasedCounts): ErasedCounts {
  return recordOf(ERASED_KINDS, (kind) => one[kind] + other[kind]);
}

function confirmed(what: 'session' | 'project', name: Token, confirm: string | undefined): void {
  if (confirm === name) return;
  const given = confirm === undefined ? 'is missing' : `is ${JSON.stringify(confirm)}`;
  throw new ThroughlineError(
    'schema_invalid',
    `confirm: ${given}: erasing cannot be undone, so give the name of the ${what} once more: ${JSON.stringify(name)}`,
    { details: { fields: ['confirm'] } },
  );
}

function unknown(what: 'session' | 'project', name: Token, command: string): ThroughlineError {
  return new ThroughlineError(
    'not_found',
    `nothing is stored of ${what} ${name}: "throughline ${command}" lists what there is`,
    { details: { [what]: name } },
  );
}

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
  }: Pick<ForgetToolsPorts, 'table' | 'compared' | 'sessions' | 'lifecycle'>,
  project: Token,
): Promise<Token[]> {
  await compared();
  const turns = new Semaphore(AT_ONCE);
  const found = [...table.rows()].map((row) =>
    turns.run(async () => {
      const { session, known } = row;
      if (lifecycle.forgotten(session)?.status === 'forgetting') return [];
      const isOurs = known !== undefined && projectOf(known.project) === project;
      const isElsewhere = known !== undefined && !isOurs;
      if (isElsewhere && !table.isStale(row)) return [];
      const { state } = (await sessions.load(session)).folded;
      return projectOf(state.charter.project) === project ? [session] : [];
    }),
  );
  return (await Promise.all(found)).flat();
}
