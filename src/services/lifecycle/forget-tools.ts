import { checkedRequest } from '../../contracts/checked.js';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { projectOf, type Token, token } from '../../contracts/names.js';
import type { StoredCounts } from '../../contracts/replies/forget-reply.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { TOOLS } from '../../contracts/tool-requests.js';
import { withinDeadline } from '../../shared/deadline.js';
import { isAtIt } from './forget-claim.js';
import {
  type ForgetProjectPorts,
  forgetProject,
  resumeForgets,
  sessionsOf,
  storedOfProject,
} from './forget-project.js';
import { forgetSession, isNothing, NOTHING, storedOf } from './forget-session.js';
import { resumeLeft } from './resume-left.js';

/**
 * Answers the tools that forget. What takes longer than a caller waits goes on without them: the same request again tells how
 * far it is, here or, less exactly, where another process is at it.
 */
type Answers = {
  readonly [Name in 'session-forget' | 'project-forget']: (request: unknown) => Promise<ToolReply<Name>>;
};

export interface ForgetTools {
  readonly answers: Answers;
  /** What is under way then goes on with the next start of a service. */
  stop(): void;
}

/** Before clients give up on an answer. */
const ANSWER_MS = 3000;
/** Finished jobs that are remembered, so that who asks again hears what was erased. */
const REMEMBERED_MS = 60_000;
const MAX_NAMED = 1000;

interface Job {
  readonly found: StoredCounts;
  readonly sessions: readonly Token[];
  readonly wasForgotten: boolean;
  erased: StoredCounts;
  isDone: boolean;
  /** Whether anyone was told that it is done. */
  isTold: boolean;
  readonly ended: Promise<void>;
}

export interface ForgetToolsPorts extends ForgetProjectPorts {
  /** A new unique id for each job. */
  readonly newId: () => string;
}

export function createForgetTools(ports: ForgetToolsPorts): ForgetTools {
  const sessions = new Map<string, Job>();
  const projects = new Map<string, Job>();

  const failed = (error: unknown) =>
    ports.logger.error({ code: codeOf(error), err: error }, 'not forgotten yet: it is tried again soon');

  /** Starts a job, or gives the one that runs, or has just ended; a failed one is forgotten, so that it can be asked for again. */
  async function jobOf(jobs: Map<string, Job>, key: string, start: () => Promise<Started>): Promise<Job> {
    const running = jobs.get(key);
    if (running !== undefined && !running.isDone) return running;
    const { found, sessions: named, wasForgotten, run } = await start();
    // Who asks how far it is hears once that it is done, unless another one has begun.
    if (running !== undefined && !running.isTold && isNothing(found)) return told(running);
    const again = jobs.get(key);
    if (again !== undefined && !again.isDone) return again;
    let erased = (_: StoredCounts) => {};
    const ended = run((counts) => erased(counts)).then(
      (counts) => {
        job.erased = counts;
        job.isDone = true;
        setTimeout(() => jobs.get(key) === job && jobs.delete(key), REMEMBERED_MS).unref();
      },
      (error: unknown) => {
        jobs.delete(key);
        if (!isStopping) failed(error);
        throw error;
      },
    );
    // Who waits for it hears of a failure; the log has it in any case.
    ended.catch(() => {});
    const job: Job = {
      ...{ found, sessions: named, wasForgotten, ended },
      ...{ erased: NOTHING, isDone: false, isTold: false },
    };
    erased = (counts) => {
      job.erased = counts;
    };
    jobs.set(key, job);
    return job;
  }

  let isStopping = false;
  const stopResuming = resumeLeft({
    isLeft() {
      const isBusy = [...sessions.values(), ...projects.values()].some(({ isDone }) => !isDone);
      return !isBusy && ports.lifecycle.unfinished().length > 0;
    },
    resume: () => resumeForgets(ports, ports.newId()),
    onFailed(error) {
      // Another process has taken over.
      if (codeOf(error) !== 'conflict') failed(error);
    },
  });

  const answers: Answers = {
    async 'session-forget'(request) {
      const asked = checkedRequest(TOOLS['session-forget'].request, request);
      const { confirm, dryRun, withLearnings } = asked;
      const session = token(asked.session, 'session');
      if (!dryRun) confirmed('session', session, confirm);
      const remembered = sessions.get(session);
      const record = ports.lifecycle.forgotten(session);
      if (dryRun || (remembered === undefined && isAtIt(ports, session))) {
        const found = await storedOf(ports, session, withLearnings);
        const before = dryRun && record?.status === 'forgotten' && isNothing(found);
        const state = dryRun ? 'counted' : 'running';
        return { session, state, found, erased: NOTHING, ...said(before) };
      }
      const job = await jobOf(sessions, session, async () => {
        const found = await storedOf(ports, session, withLearnings);
        // Of an import that was cut short there may be its record alone.
        const isNamed = record !== undefined || ports.lifecycle.archived(session) !== undefined;
        if (isNothing(found) && !isNamed) throw unknown('session', session, 'session ls');
        await ports.eraser.check();
        return {
          found,
          sessions: [session],
          wasForgotten: record?.status === 'forgotten' && isNothing(found),
          run: (onErased) => forgetSession(ports, session, { by: ports.newId(), withLearnings, onErased }),
        };
      });
      await withinDeadline(ANSWER_MS, job.ended);
      if (job.isDone) told(job);
      const { found, erased, wasForgotten, isDone } = job;
      const state = isDone ? 'done' : 'running';
      return { session, state, found, erased, ...said(wasForgotten) };
    },
    async 'project-forget'(request) {
      const { confirm, dryRun, ...asked } = checkedRequest(TOOLS['project-forget'].request, request);
      const project = projectOf(token(asked.project, 'project'));
      if (!dryRun) confirmed('project', project, confirm);
      const count = async () => {
        const named = await sessionsOf(ports, project);
        const found = await storedOfProject(ports, project, named);
        const isGone = named.length === 0 && isNothing(found);
        // An event without content stays of it. Of one that never had a learning there is only the job.
        const isKnown = isGone && (projects.has(project) || (await hasLog(ports, project)));
        return { named, found, isGone, wasForgotten: isKnown };
      };
      if (dryRun) {
        const { named, found, wasForgotten } = await count();
        return projectReply(project, { sessions: named, found, erased: NOTHING, wasForgotten }, 'counted');
      }
      const job = await jobOf(projects, project, async () => {
        const { named, found, isGone, wasForgotten } = await count();
        // Where it was forgotten, the caller that asks again must hear so: the answer may have been lost.
        if (isGone && !wasForgotten) throw unknown('project', project, 'session ls --project NAME');
        await ports.eraser.check();
        return {
          ...{ found, sessions: named, wasForgotten },
          run: (onErased) => forgetProject(ports, project, named, ports.newId(), onErased),
        };
      });
      await withinDeadline(ANSWER_MS, job.ended);
      if (job.isDone) told(job);
      return projectReply(project, job, job.isDone ? 'done' : 'running');
    },
  };
  return {
    answers,
    stop() {
      isStopping = true;
      stopResuming();
    },
  };
}

interface Started {
  readonly found: StoredCounts;
  readonly sessions: readonly Token[];
  /** Whether it was forgotten before, and nothing is left of it. */
  readonly wasForgotten: boolean;
  readonly run: (onErased: (erased: StoredCounts) => void) => Promise<StoredCounts>;
}

function told(job: Job): Job {
  job.isTold = true;
  return job;
}

function projectReply(
  project: Token,
  { sessions, found, erased, wasForgotten }: Pick<Job, 'sessions' | 'found' | 'erased' | 'wasForgotten'>,
  state: 'counted' | 'running' | 'done',
) {
  const [first, total] = [sessions.slice(0, MAX_NAMED), sessions.length];
  return { project, sessions: first, total, state, found, erased, ...said(wasForgotten) };
}

function said(wasForgotten: boolean): { readonly forgotten?: true } {
  return wasForgotten ? { forgotten: true } : {};
}

/** Whether a learning, or that it was forgotten, was ever stored of a project. */
async function hasLog({ projects }: Pick<ForgetProjectPorts, 'projects'>, project: Token): Promise<boolean> {
  return (await projects.load(project)).folded.state.sequence > 0;
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
