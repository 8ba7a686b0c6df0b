import type { RetentionRule, RetentionRules, RetentionTerm } from '../../contracts/lifecycle-record.js';
import { projectOf, type Token } from '../../contracts/names.js';
import { spanMs } from '../../shared/text.js';

/** A term of a rule. */
interface Term {
  /** Original spelling, for example `90d`. */
  readonly after: string;
  /** The project of the rule; left out for the installation. */
  readonly of?: Token;
}

/** Returns a project's term: from its own rule, else the installation's; `undefined` for never. */
export function termOf(
  { rules }: Pick<RetentionRules, 'rules'>,
  project: Token,
  which: RetentionTerm,
): Term | undefined {
  const own = rules.find((rule) => rule.project === project);
  const base = rules.find((rule) => rule.project === undefined);
  const after = own?.[which] ?? base?.[which];
  if (after === undefined || after === 'never') return undefined;
  return { after, ...(own?.[which] !== undefined && { of: project }) };
}

/** A session as the rules see it. */
interface Aged {
  readonly project: Token;
  /** Time of its last event, in milliseconds since 1970. */
  readonly at: number;
  /** For a session archived by a rule, the last event before that. */
  readonly archived?: { readonly idleSince?: string | undefined } | undefined;
}

export interface DueByRule extends Term {
  readonly what: 'archive' | 'forget';
  /** Time of the last event. */
  readonly last: number;
  /** Sessions without an event since then are due. */
  readonly before: number;
}

/** Returns the action due for a session at a time in milliseconds since 1970. */
export function dueOf(rules: RetentionRules, session: Aged, now: number): DueByRule | undefined {
  const { project, at, archived } = session;
  // Being archived by a rule is not activity.
  const last = archived?.idleSince === undefined ? at : Date.parse(archived.idleSince);
  const due = (what: DueByRule['what'], which: RetentionTerm): DueByRule | undefined => {
    const term = termOf(rules, project, which);
    if (term === undefined) return undefined;
    const before = now - spanMs(term.after);
    return last < before ? { ...term, what, last, before } : undefined;
  };
  return (
    due('forget', 'forgetAfter') ?? (archived === undefined ? due('archive', 'archiveAfter') : undefined)
  );
}

/** Messages of a stream to delete: all older than `all`, and those of some sessions older than a shorter term. */
export interface Cuts {
  readonly all?: string;
  readonly each: readonly { readonly session: Token; readonly after: string }[];
}

/** Messages without a project; no rule has an empty name. */
const NO_PROJECT = '' as Token;

/** @param sessions with messages there, and their projects; those with an unknown project are left out */
export function cutsOf(
  rules: RetentionRules,
  sessions: Iterable<readonly [session: Token, project: Token]>,
  which: 'dispatchesAfter' | 'rejectedAfter',
): Cuts {
  const termOfProject = (project: Token) => termOf(rules, project, which)?.after;
  // The common term must hold for every project, and for messages without one.
  const named = rules.rules.flatMap(({ project }) => project ?? []);
  const terms = [NO_PROJECT, ...named].map(termOfProject);
  const all = terms.reduce((one, other) =>
    one === undefined || other === undefined ? undefined : spanMs(one) >= spanMs(other) ? one : other,
  );
  const each = [...sessions].flatMap(([session, project]) => {
    const after = termOfProject(project);
    if (after === undefined || (all !== undefined && spanMs(after) >= spanMs(all))) return [];
    return [{ session, after }];
  });
  return { ...(all !== undefined && { all }), each };
}

/** Replaces the rule of the installation or a project. */
export function withRule(
  before: RetentionRules,
  at: string,
  { project: named, remove, ...terms }: RuleGiven,
): RetentionRules {
  const project = named === undefined ? undefined : projectOf(named);
  const old = before.rules.find((rule) => rule.project === project);
  const others = before.rules.flatMap((rule) => {
    if (rule.project === project) return [];
    // Project rules that inherited the removed values change with it.
    return remove && rule.project === undefined ? { ...rule, at } : rule;
  });
  const given = Object.fromEntries(Object.entries(terms).filter(([, after]) => after !== undefined));
  const next = {
    ...(project !== undefined && { project }),
    ...old,
    ...given,
    at,
  } as RetentionRule;
  const rules = remove ? others : [...others, next];
  rules.sort((one, other) => ((one.project ?? '') < (other.project ?? '') ? -1 : 1));
  return { v: 1, version: before.version + 1, rules };
}

type RuleGiven = { readonly [Which in RetentionTerm]?: string | undefined } & {
  readonly project?: string | undefined;
  readonly remove: boolean;
};

/** Finds a rule that would forget sessions before archiving them, which can only be a mistake. */
export function contradiction(
  rules: RetentionRules,
): { project?: Token; archive: string; forget: string } | undefined {
  const base = rules.rules.find(({ project }) => project === undefined);
  for (const rule of rules.rules) {
    const archive = rule.archiveAfter ?? base?.archiveAfter;
    const forget = rule.forgetAfter ?? base?.forgetAfter;
    if (archive === undefined || forget === undefined || archive === 'never' || forget === 'never') continue;
    if (spanMs(forget) < spanMs(archive))
      return { ...(rule.project !== undefined && { project: rule.project }), archive, forget };
  }
  return undefined;
}
