import type { LearningEvent } from '../../contracts/learning-events.js';
import type { Token } from '../../contracts/names.js';
import type { ProjectCommander, ProjectReader } from '../../engine/folding/session-folding.js';
import type { LearningEraser } from '../../engine/ports/session-lifecycle.js';
import type { LearningLog } from '../../engine/ports/session-log.js';
import { type ForgottenLearnings, withoutSession } from '../../memory/learnings/forget-in-learnings.js';
import { learningsCheckpoint } from '../../memory/learnings/learnings-snapshot.js';
import { emptyLearnings, type LearningState } from '../../memory/learnings/learnings-state.js';

/**
 * Removes sessions from learnings. A project's log contains its sessions' words, so a checkpoint of the rest is appended and
 * all earlier events are erased.
 */
export interface LearningsPorts {
  readonly learnings: LearningLog;
  readonly projects: Pick<ProjectReader, 'load'>;
  readonly command: ProjectCommander;
  readonly eraser: LearningEraser;
}

export const NO_LEARNINGS: ForgottenLearnings = { evidence: 0, proposals: 0, learnings: 0 };

/** Counts what forgetting a session would remove from all projects. */
export async function learningsOf(
  ports: Pick<LearningsPorts, 'learnings' | 'projects'>,
  session: Token,
  withLearnings: boolean,
): Promise<ForgottenLearnings> {
  let sum = { ...NO_LEARNINGS };
  for (const project of await ports.learnings.projects()) {
    const { state } = (await ports.projects.load(project)).folded;
    sum = added(sum, withoutSession(state, session, { withLearnings }).forgotten);
  }
  return sum;
}

/** Removes a session from all projects. Idempotent; a repetition removes what was written late. */
export async function forgetInLearnings(
  ports: LearningsPorts,
  session: Token,
  withLearnings: boolean,
): Promise<ForgottenLearnings> {
  let sum = { ...NO_LEARNINGS };
  for (const project of await ports.learnings.projects()) {
    if (!(await isNamed(ports, project, session, withLearnings))) {
      // A snapshot of an earlier state may have been written since.
      await ports.eraser.eraseLearnings(project, { before: 0, vectors: [] });
      continue;
    }
    let forgotten = NO_LEARNINGS;
    await rewritten(ports, project, 'session_forgotten', (state) => {
      const without = withoutSession(state, session, { withLearnings });
      forgotten = without.forgotten;
      return without.state;
    });
    sum = added(sum, forgotten);
  }
  return sum;
}

/** Replaces the learnings of a project by an empty event, which stays as its tombstone. */
export function forgetProjectLearnings(ports: LearningsPorts, project: Token): Promise<void> {
  return rewritten(ports, project, 'project_forgotten', () => emptyLearnings(project));
}

export function countsOf({ entries, active }: LearningState): ForgottenLearnings {
  const proposals = [...entries.values()].filter(({ learning }) => learning === undefined).length;
  return { evidence: 0, proposals, learnings: active.size };
}

/** Returns true if the state or an event of a project mentions a session; the state alone may have compacted it away. */
async function isNamed(
  { learnings, projects }: LearningsPorts,
  project: Token,
  session: Token,
  withLearnings: boolean,
): Promise<boolean> {
  const { state } = (await projects.load(project)).folded;
  const { forgotten } = withoutSession(state, session, { withLearnings });
  if (Object.values(forgotten).some((count) => count > 0)) return true;
  const { events } = await learnings.read(project, { after: 0 });
  return events.some(({ event }) => names(event, session));
}

function names({ type, data }: LearningEvent, session: Token): boolean {
  if (type === 'observed') return data.session === session;
  if (type !== 'proposed') return false;
  return data.source.session === session || data.evidence.some((each) => each.session === session);
}

async function rewritten(
  { command, eraser }: LearningsPorts,
  project: Token,
  reason: 'session_forgotten' | 'project_forgotten',
  restOf: (state: LearningState) => LearningState,
): Promise<void> {
  let gone: string[] = [];
  const { reply } = await command(project, 'forget', (state) => {
    const rest = restOf(state);
    gone = [...state.active.keys()].filter((id) => !rest.active.has(id));
    return {
      kind: 'append',
      event: { type: 'checkpoint', data: learningsCheckpoint(rest, reason) },
      reply: ({ lastEvent }) => ({ checkpoint: lastEvent }),
    };
  });
  const { checkpoint } = reply as { readonly checkpoint: number };
  await eraser.eraseLearnings(project, { before: checkpoint, vectors: gone });
}

function added(one: ForgottenLearnings, other: ForgottenLearnings): ForgottenLearnings {
  return {
    evidence: one.evidence + other.evidence,
    proposals: one.proposals + other.proposals,
    learnings: one.learnings + other.learnings,
  };
}
