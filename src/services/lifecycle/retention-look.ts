import type { RetentionRules, RetentionTerm } from '../../contracts/lifecycle-record.js';
import { projectOf, type Token } from '../../contracts/names.js';
import type {
  AgedKind,
  AgedMessages,
  AgedStream,
  SessionLifecycle,
} from '../../engine/ports/session-lifecycle.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import { type Cuts, cutsOf, type DueByRule, dueOf } from '../../memory/session/retention-rules.js';
import { spanMs } from '../../shared/text.js';
import type { SessionTable } from '../common/session-table.js';

/** Evaluates retention rules without changing anything. */
export interface LookPorts {
  readonly table: SessionTable;
  /** Resolves once the table is complete. */
  readonly caughtUp: () => Promise<void>;
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'forgotten'>;
  readonly aged: AgedMessages;
}

export interface DueSession extends DueByRule {
  readonly session: Token;
  readonly project: Token;
}

interface DueSessions {
  readonly archive: readonly DueSession[];
  readonly forget: readonly DueSession[];
  /** Number of sessions of unknown project, which are left alone. */
  readonly unknown: number;
}

/** Returns the sessions due at a time in milliseconds since 1970, least recently moved first. */
export async function dueSessions(
  { table, caughtUp, lifecycle }: LookPorts,
  rules: RetentionRules,
  now: number,
): Promise<DueSessions> {
  if (rules.rules.length === 0) return { archive: [], forget: [], unknown: 0 };
  await caughtUp();
  const due: DueSession[] = [];
  let unknown = 0;
  for (const { session, at, known } of table.rows()) {
    const record = lifecycle.archived(session);
    if (lifecycle.forgotten(session)?.status === 'forgetting' || record?.importing !== undefined) continue;
    if (known === undefined) {
      unknown += 1;
      continue;
    }
    const project = projectOf(known.project);
    const archived = record && { idleSince: record.idle_since };
    const found = dueOf(rules, { project, at, archived }, now);
    if (found !== undefined) due.push({ ...found, session, project });
  }
  due.sort((one, other) => one.last - other.last);
  const of = (what: DueByRule['what']) => due.filter((each) => each.what === what);
  return { archive: of('archive'), forget: of('forget'), unknown };
}

const AGED_TERMS = {
  dispatches: 'dispatchesAfter',
  rejected: 'rejectedAfter',
} as const satisfies Readonly<Record<AgedKind, RetentionTerm>>;

const AT_ONCE = 8;

interface AgedLook {
  readonly stream: AgedStream;
  readonly cuts: Cuts;
}

export async function agedLook(
  { table, lifecycle, aged }: LookPorts,
  rules: RetentionRules,
  kind: AgedKind,
): Promise<AgedLook | undefined> {
  const which = AGED_TERMS[kind];
  if (!rules.rules.some((rule) => rule[which] !== undefined)) return undefined;
  const stream = await aged.look(kind);
  // Rules without projects need no list of sessions.
  const isSame = rules.rules.every(({ project }) => project === undefined);
  const names = isSame ? [] : await stream.sessions();
  const known = names.flatMap((session) => {
    const figures = table.get(session)?.known;
    const isLeaving = lifecycle.forgotten(session)?.status === 'forgetting';
    return figures === undefined || isLeaving ? [] : [[session, projectOf(figures.project)] as const];
  });
  return { stream, cuts: cutsOf(rules, known, which) };
}

/** Calls `work` for the whole stream, then for single sessions, and returns the sum. */
export async function throughCuts(
  { cuts }: AgedLook,
  now: number,
  work: (before: string, session: Token | undefined, after: string) => Promise<number>,
): Promise<number> {
  const before = (after: string) => new Date(now - spanMs(after)).toISOString();
  const { all, each } = cuts;
  const whole = all === undefined ? 0 : await work(before(all), undefined, all);
  const turns = new Semaphore(AT_ONCE);
  const rest = each.map(({ session, after }) => turns.run(() => work(before(after), session, after)));
  return (await Promise.all(rest)).reduce((sum, one) => sum + one, whole);
}

/** Counts the messages that the rules would remove. */
export function countedCuts({ stream, cuts }: AgedLook, now: number): Promise<number> {
  const { all } = cuts;
  return throughCuts({ stream, cuts }, now, async (before, session) => {
    const count = await stream.count(before, session);
    if (session === undefined || all === undefined || count === 0) return count;
    // Messages covered by the rule for all are counted there.
    return count - (await stream.count(new Date(now - spanMs(all)).toISOString(), session));
  });
}
