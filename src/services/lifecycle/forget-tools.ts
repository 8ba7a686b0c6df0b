import { checkedRequest } from '../../contracts/checked.js';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { projectOf, type Token, token } from '../../contracts/names.js';
import type { StoredCounts } from '../../contracts/replies/lifecycle-replies.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { TOOLS } from '../../contracts/tool-requests.js';
import { Jobs, type JobsOptions, LEFT_EVERY_MS } from '../../engine/runtime/jobs.js';
import { withinDeadline } from '../../shared/deadline.js';
import { forgetProjectLearnings } from './forget-learnings.js';
import { type ForgetProjectPorts, sessionsOf, storedOfProject } from './forget-project.js';
import {
  beginForgetting,
  FORGET_JOB,
  forgetKind,
  isNothing,
  NOTHING,
  storedOf,
  sum,
} from './forget-session.js';

/**
 * Answers the tools that forget. What takes longer than a caller waits goes on without them: the same request again tells how
 * far it is, here or, less exactly, where another process is at it.
 */
type Answers = {
  readonly [Name in 'session-forget' | 'project-forget']: (request: unknown) => Promise<ToolReply<Name>>;
};

interface ForgetTools {
  readonly answers: Answers;
  /** What is under way is gone on with by another process, or with the next start of a service. */
  stop(): Promise<void>;
}

/** Before clients give up on an answer. */
const ANSWER_MS = 3000;
/** How long it is remembered what was erased, so that a caller that asks again hears of it. */
const REMEMBERED_MS = 60_000;
const MAX_NAMED = 1000;

/** What a caller has asked for. */
interface Asked extends Begun {
  readonly ended: Promise<void>;
  isDone: boolean;
  /** True once someone was told that it is done. */
  isTold: boolean;
}

interface Begun {
  readonly found: StoredCounts;
  readonly sessions: readonly Token[];
  /** True if it was forgotten before, and nothing is left of it. */
  readonly wasForgotten: boolean;
  /** Of learnings that go before the sessions. */
  readonly learnings: () => StoredCounts;
}

type ForgetToolsPorts = ForgetProjectPorts & Pick<JobsOptions, 'leases' | 'newId'>;

export function createForgetTools(ports: ForgetToolsPorts): ForgetTools {
  const { lifecycle, eraser } = ports;
  const asked = new Map<string, Asked>();
  const erased = new Map<Token, StoredCounts>();
  const kind = forgetKind(ports, (session, counts) => erased.set(session, counts));
  const jobs = new Jobs(kind, { ...ports, everyMs: LEFT_EVERY_MS });

  /** Begins what is asked for, or joins what was asked for before and is not done, or not told of, yet. */
  async function ask(key: string, begin: () => Promise<Begun & { readonly before: () => Promise<void> }>) {
    const running = asked.get(key);
    if (running !== undefined && !running.isDone) return running;
    const { before, ...begun } = await begin();
    // The caller that asks how far it is hears once that it is done, unless another one has begun.
    if (running !== undefined && !running.isTold && isNothing(begun.found)) return running;
    const again = asked.get(key);
    if (again !== undefined && !again.isDone) return again;
    for (const session of begun.sessions) erased.delete(session);
    const isDone = async () =>
      begun.sessions.every((session) => lifecycle.forgotten(session)?.status !== 'forgetting');
    const ended = before()
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
    // A caller that waits for it hears of a failure; the log has it in any case.
    ended.catch(() => {});
    const job: Asked = { ...begun, ended, isDone: false, isTold: false };
    asked.set(key, job);
    return job;
  }

  /** How far it is, after as long as a caller waits. */
  async function answered(job: Asked) {
    await withinDeadline(ANSWER_MS, job.ended);
    if (job.isDone) job.isTold = true;
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
      const wasForgotten = () => lifecycle.forgotten(session)?.status === 'forgotten';
      if (dryRun) {
        const found = await storedOf(ports, session, withLearnings);
        return {
          session,
          state: 'counted',
          found,
          erased: NOTHING,
          ...said(wasForgotten() && isNothing(found)),
        };
      }
      const job = await ask(`session ${session}`, async () => {
        const found = await storedOf(ports, session, withLearnings);
        // Of an import that was cut short there may be its record alone.
        const isNamed = lifecycle.forgotten(session) ?? lifecycle.archived(session);
        if (isNothing(found) && isNamed === undefined) throw unknown('session', session, 'session ls');
        await eraser.check();
        return {
          ...{ found, sessions: [session], wasForgotten: wasForgotten() && isNothing(found) },
          learnings: () => NOTHING,
          before: () => beginForgetting(ports, session, { withLearnings }),
        };
      });
      const { wasForgotten: before, ...reply } = await answered(job);
      return { session, ...reply, ...said(before) };
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
        // An event without content stays of it. Of one that never had a learning there is only what was asked.
        const isKnown = isGone && (asked.has(key) || (await hasLog(ports, project)));
        return { named, found, isGone, wasForgotten: isKnown };
      };
      if (dryRun) {
        const { named, found, wasForgotten } = await count();
        return projectReply(project, named, { found, erased: NOTHING, wasForgotten, state: 'counted' });
      }
      const job = await ask(key, async () => {
        const { named, found, isGone, wasForgotten } = await count();
        // Where it was forgotten, the caller that asks again must hear so: the answer may have been lost.
        if (isGone && !wasForgotten) throw unknown('project', project, 'session ls --project NAME');
        await eraser.check();
        let learnings = NOTHING;
        return {
          ...{ found, sessions: named, wasForgotten, learnings: () => learnings },
          async before() {
            // All of them first: so each will be forgotten, and the learnings with the last, whatever happens to this process.
            for (const session of named) await beginForgetting(ports, session, { project });
            learnings = sum(NOTHING, await forgetProjectLearnings(ports, project));
            await eraser.rewrite(['learnings']);
          },
        };
      });
      return projectReply(project, job.sessions, await answered(job));
    },
  };
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
