import { z } from 'zod';
import type { DispatchFault } from '../../contracts/dispatch-body.js';
import { ThroughlineError } from '../../contracts/errors.js';
import {
  type GitVersion,
  gitVersion,
  type TasksDocument,
  tasksDocument,
  tasksSource,
} from '../../contracts/plan-requests.js';
import type { EventOf } from '../../contracts/session-events.js';
import { specNameOf } from '../../ledger/next-task.js';
import { onceForEach } from '../../shared/collections.js';
import { clipText, oneLine } from '../../shared/text.js';

export const charterJson = z.object({
  status: z.enum(['open', 'completed']),
  /** Shown in lists. */
  title: z.string().exactOptional(),
  goal: z.string().exactOptional(),
  /** A person has set the goal: no agent changes it. */
  person: z.literal(true).exactOptional(),
  /** The specification itself, or … */
  spec: z.string().exactOptional(),
  /** … its path. */
  spec_path: z.string().exactOptional(),
  project: z.string().exactOptional(),
  /** Why it was completed with open tasks. */
  completed_reason: z.string().exactOptional(),
  /** Set while it follows no plan because a person said so. */
  unfollowed: z.literal(true).exactOptional(),
  /** Set while it is read-only: since when, ISO 8601 in UTC, and why. */
  archived: z.object({ at: z.string(), reason: z.string().exactOptional() }).exactOptional(),
});
export type Charter = z.output<typeof charterJson>;

const MAX_REASON = 300;

type Archived = NonNullable<Charter['archived']>;

function archivedText(session: string, { at, reason }: Archived): string {
  const why = reason === undefined ? '' : ` (${clipText(oneLine(reason), MAX_REASON)})`;
  return `session ${session} is archived since ${at}${why}`;
}

export function archivedResult(session: string, archived: Archived): DispatchFault {
  return {
    code: 'session_archived',
    reason: archivedText(session, archived),
    fix: `reopen it with "throughline session reopen ${session}" and retry this result, or publish to another session`,
  };
}

export function archivedFault(session: string, archived: Archived): ThroughlineError {
  const fix = `reopen it first with "throughline session reopen ${session}"`;
  return new ThroughlineError('session_archived', `${archivedText(session, archived)}: ${fix}`);
}

type CharterEvent = EventOf<
  'session.opened' | 'session.completed' | 'session.restarted' | 'session.archived' | 'session.reopened'
>;

export function evolveCharter(charter: Charter, event: CharterEvent): void {
  switch (event.type) {
    case 'session.opened':
      for (const key of ['title', 'goal', 'spec', 'spec_path', 'project'] as const) {
        const value = event.data[key];
        if (value !== undefined) charter[key] = value;
      }
      if (event.data.goal !== undefined && event.data.person) charter.person = true;
      return;
    case 'session.completed':
      charter.status = 'completed';
      if (event.data.reason !== undefined) charter.completed_reason = event.data.reason;
      return;
    case 'session.restarted':
      charter.status = 'open';
      delete charter.completed_reason;
      return;
    case 'session.archived': {
      const { reason } = event.data;
      charter.archived = { at: event.at, ...(reason !== undefined && { reason }) };
      return;
    }
    case 'session.reopened':
      delete charter.archived;
      return;
  }
}

/** The plan that a session follows; absent until `run.init`. */
export const runJson = z.object({
  spec: z.string(),
  source: tasksSource,
  version: gitVersion.exactOptional(),
  document: tasksDocument,
  goal: z.string().exactOptional(),
});
export type Run = z.output<typeof runJson>;

export type RunEvent = EventOf<'run.initialized' | 'run.ended' | 'progress.rebuilt'>;

/** A rebuilt document without a run changes nothing. */
export function evolveRun(run: Run | undefined, event: RunEvent): Run | undefined {
  if (event.type === 'run.initialized') {
    const { spec, goal, source, version, document } = event.data;
    return { spec, source, ...(version && { version }), document, ...(goal !== undefined && { goal }) };
  }
  if (event.type === 'run.ended') return undefined;
  if (run === undefined) return undefined;
  const { document, version = run.version && { ...run.version, commits: [] } } = event.data;
  return { ...run, ...(version && { version }), document };
}

/** Returns true for the plan of another file: of another place in the repository, else of another path, else of another name. */
export function isAnotherPlan(
  { spec, source, version }: Pick<Run, 'spec' | 'source' | 'version'>,
  next: { readonly spec?: string | undefined; readonly version?: GitVersion | undefined } & Pick<
    Run,
    'source'
  >,
): boolean {
  if (version !== undefined && next.version !== undefined) return version.file !== next.version.file;
  const here = source.kind === 'file' ? source.path : undefined;
  const there = next.source.kind === 'file' ? next.source.path : undefined;
  if (here !== undefined && there !== undefined) return here !== there;
  const name = next.spec ?? (there && specNameOf(there));
  return name !== undefined && name !== spec && name !== (here && specNameOf(here));
}

/** Returns true for a version behind the one that is known. Where git does not tell, the one that comes last counts. */
export function isOlderPlan({ version }: Run, next: GitVersion | undefined): boolean {
  return (version?.commits.indexOf(next?.commits[0] ?? '') ?? 0) > 0;
}

/** Returns the id of the task that the author of the plan calls so: `T001~2` for `T001` after its words were replaced. */
export function idInPlan(run: Run | undefined, id: string): string {
  return (run && idsByWritten(run.document).get(id)) ?? id;
}

/** Cached: each result is looked up. */
const idsByWritten = onceForEach(
  ({ tasks }: TasksDocument) => new Map(tasks.map(({ id, written = id }) => [written, id])),
);
