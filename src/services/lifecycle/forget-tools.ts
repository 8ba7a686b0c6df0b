import { checkedRequest } from '../../contracts/checked.js';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { projectOf, type Token, token } from '../../contracts/names.js';
import type { StoredCounts } from '../../contracts/replies/lifecycle-replies.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { TOOLS } from '../../contracts/tool-requests.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import { Jobs, type JobsOptions, RESUME_EVERY_MS } from '../../engine/runtime/jobs.js';
import { withinDeadline } from '../../shared/backoff.js';
import type { SessionTable } from '../common/session-table.js';
import { countsOf, forgetProjectLearnings } from './forget-learnings.js';
import {
  beginForgetting,
  countedOf,
  FORGET_JOB,
  type ForgetPorts,
  forgetKind,
  isNothing,
  NOTHING,
  storedOf,
  sum,
} from './forget-session.js';

/**
 * Answers the tools that forget. Long work continues in the background, and a dry run reports its progress, less precisely if
 * another process is running it. Repeating the request itself could erase what a new session of the name has received since.
 */
type Answers = {
  readonly [Name in 'session-forget' | 'project-forget']: (request: unknown) => Promise<ToolReply<Name>>;
};

/** Less than a client's timeout. */
const ANSWER_MS = 3000;
/** Time that counts are kept for callers that ask again. */
const REMEMBERED_MS = 60_000;
const MAX_NAMED = 1000;

interface Asked extends Begun {
  readonly ended: Promise<void>;
  isDone: boolean;
}

interface Begun {
  readonly found: StoredCounts;
  readonly sessions: readonly Token[];
  readonly wasForgotten: boolean;
  /** Counts of learnings erased before the sessions. */
  readonly learnings: () => StoredCounts;
  /** Runs first, in the background. */
  readonly before?: () => Promise<void>;
}

type ForgetToolsPorts = ForgetProjectPorts & Pick<JobsOptions, 'leases' | 'newId'>;

export function createForgetTools(ports: ForgetToolsPorts) {
  const { lifecycle, eraser } = ports;
  const asked = new Map<string, Asked>();
  const erased = new Map<Token, StoredCounts>();
  const kind = forgetKind(ports, (session, counts) => erased.set(session, counts));
  const jobs = new Jobs(kind, { ...ports, everyMs: RESUME_EVERY_MS });

  const runningOf = (key: string) => {
    const job = asked.get(key);
    return job?.isDone === false ? job : undefined;
  };

  async function ask(key: string, begin: () => Promise<Begun>): Promise<Asked> {
    const begun = await begin();
    if (begun.wasForgotten) return { ...begun, ended: Promise.resolve(), isDone: true };
    const running = runningOf(key);
    if (running !== undefined) return running;
    for (const session of begun.sessions) erased.delete(session);
    const isDone = async () =>
      begun.sessions.every((session) => lifecycle.forgotten(session)?.status !== 'forgetting');
    const ended = Promise.resolve(begun.before?.())
      .then(() => jobs.finish(FORGET_JOB, isDone))
      .then(
        () => {
          job.isDone = true;
          const forget = () => {
            if (asked.get(key) === job) asked.delete(key);
            for (const session of begun.sessions) erased.delete(session);
          };
          setTimeout(forget, REMEMBERED_MS).unref();
        },
        (error: unknown) => {
          asked.delete(key);
          ports.logger.warn({ code: codeOf(error), err: error }, kind.failed);
          throw error;
        },
      );
    // Waiting callers get the error; it is logged in any case.
    ended.catch(() => {});
    const job: Asked = { ...begun, ended, isDone: false };
    asked.set(key, job);
    return job;
  }

  /** Returns the progress after a short wait. */
  async function answered(job: Asked) {
    await withinDeadline(ANSWER_MS, job.ended);
    const { found, sessions, wasForgotten, learnings, isDone } = job;
    const gone = sessions.reduce((all, session) => sum(all, erased.get(session) ?? NOTHING), learnings());
    return { found, erased: gone, wasForgotten, state: isDone ? 'done' : 'running' } as const;
  }

  const answers: Answers = {
    async 'session-forget'(request) {
      const { confirm, dryRun, withLearnings, ...given } = checkedRequest(
        TOOLS['session-forget'].request,
        request,
      );
      const session = token(given.session, 'session');
      if (!dryRun) confirmed('session', session, confirm);
      const status = () => lifecycle.forgotten(session)?.status;
      const key = `session ${session}`;
      const running = runningOf(key);
      if (dryRun && running === undefined) {
        const found = await storedOf(ports, session, withLearnings);
        const state = status() === 'forgetting' ? 'running' : 'counted';
        const wasForgotten = status() === 'forgotten' && isNothing(found);
        return { session, state, found, erased: NOTHING, ...said(wasForgotten) };
      }
      const begin = async () => {
        const found = await storedOf(ports, session, withLearnings);
        // An interrupted import may consist of its record alone.
        const isNamed = lifecycle.forgotten(session) ?? lifecycle.archived(session);
        if (isNothing(found) && isNamed === undefined) throw unknown('session', session, 'session ls');
        const wasForgotten = status() === 'forgotten' && isNothing(found);
        if (!wasForgotten) {
          await eraser.check();
          // Before the answer: another process then finishes it if this one dies.
          await beginForgetting(ports, session, { withLearnings });
        }
        const sessions = wasForgotten ? [] : [session];
        return { found, sessions, wasForgotten, learnings: () => NOTHING };
      };
      const { wasForgotten, ...reply } = await answered(running ?? (await ask(key, begin)));
      return { session, ...reply, ...said(wasForgotten) };
    },
    async 'project-forget'(request) {
      const { confirm, dryRun, ...given } = checkedRequest(TOOLS['project-forget'].request, request);
      const project = projectOf(token(given.project, 'project'));
      if (!dryRun) confirmed('project', project, confirm);
      const key = `project ${project}`;
      const count = async () => {
        const named = await sessionsOf(ports, project);
        const found = await storedOfProject(ports, project, named);
        const isGone = named.length === 0 && isNothing(found);
        // An empty event is its tombstone. A project that never had a learning is only known from this request.
        const { state } = (await ports.projects.load(project)).folded;
        const isKnown = isGone && (asked.has(key) || state.sequence > 0);
        return { named, found, isGone, wasForgotten: isKnown };
      };
      const running = runningOf(key);
      if (dryRun && running === undefined) {
        const { named, found, wasForgotten } = await count();
        const isForgetting = lifecycle
          .unfinished()
          .some((session) => lifecycle.forgotten(session)?.project === project);
        const state = isForgetting ? 'running' : 'counted';
        return projectReply(project, named, { found, erased: NOTHING, wasForgotten, state });
      }
      const begin = async () => {
        const { named, found, isGone, wasForgotten } = await count();
        // The reply may have been lost: a caller that asks again must hear that it was forgotten.
        if (isGone && !wasForgotten) throw unknown('project', project, 'session ls --project NAME');
        await eraser.check();
        let learnings = NOTHING;
        return {
          ...{ found, sessions: named, wasForgotten, learnings: () => learnings },
          async before() {
            // Record all sessions first, so that the job finishes even if this process dies.
            for (const session of named) await beginForgetting(ports, session, { project });
            learnings = sum(NOTHING, await forgetProjectLearnings(ports, project));
            await eraser.rewrite(['learnings']);
          },
        };
      };
      const job = running ?? (await ask(key, begin));
      return projectReply(project, job.sessions, await answered(job));
    },
  };
  // Another process or the next start resumes the work.
  return { answers, stop: () => jobs.stop() };
}

interface HowFar extends Pick<ToolReply<'project-forget'>, 'state' | 'found' | 'erased'> {
  readonly wasForgotten: boolean;
}

function projectReply(project: Token, sessions: readonly Token[], { wasForgotten, ...reply }: HowFar) {
  const [first, total] = [sessions.slice(0, MAX_NAMED), sessions.length];
  return { project, sessions: first, total, ...reply, ...said(wasForgotten) };
}

function said(wasForgotten: boolean): { readonly forgotten?: true } {
  return wasForgotten ? { forgotten: true } : {};
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
