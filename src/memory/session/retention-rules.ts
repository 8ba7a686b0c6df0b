import { projectOf, type Token } from '../../contracts/names.js';
import type { RetentionRule, RetentionRules, RetentionTerm } from '../../contracts/retention-record.js';
import { spanMs } from '../../shared/text.js';

/** What the rules of retention say of a session, and of the messages of sessions. */

/** A term that a rule sets. */
interface Term {
  /** As it was written: `90d`. */
  readonly after: string;
  /** The project whose rule says so; left out for the installation. */
  readonly of?: Token;
}

/** The term of a project: what its own rule says, else that of the installation; `undefined` for never. */
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

/** A session as rules see it. */
interface Aged {
  readonly project: Token;
  /** When it moved last, in milliseconds since 1970. */
  readonly at: number;
  /** Of an archived one, when it had moved last before it was archived by a rule. */
  readonly archived?: { readonly idleSince?: string | undefined } | undefined;
}

export interface DueByRule extends Term {
  readonly what: 'archive' | 'forget';
  /** When it moved last. */
  readonly last: number;
  /** What has not moved since then is due. */
  readonly before: number;
}

/** What is to be done with a session, at a time in milliseconds since 1970. */
export function dueOf(rules: RetentionRules, session: Aged, now: number): DueByRule | undefined {
  const { project, at, archived } = session;
  // Being archived by a rule does not count as activity.
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

/** Which messages of a stream go: all that are older than a term, and of some sessions what is older than a shorter one. */
export interface Cuts {
  readonly all?: string;
  readonly each: readonly { readonly session: Token; readonly after: string }[];
}

/** Stands for what belongs to no project: no rule has an empty name. */
const NO_PROJECT = '' as Token;

/** @param sessions those that have messages there, with their projects; one whose project is not known is left out */
export function cutsOf(
  rules: RetentionRules,
  sessions: Iterable<readonly [session: Token, project: Token]>,
  which: 'dispatchesAfter' | 'rejectedAfter',
): Cuts {
  const termOfProject = (project: Token) => termOf(rules, project, which)?.after;
  // What goes for all goes for every project, and for what belongs to none.
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

/** A rule that a person has given, in place of the one that there was. */
export function withRule(
  before: RetentionRules,
  at: string,
  { project: named, remove, ...terms }: RuleGiven,
): RetentionRules {
  const project = named === undefined ? undefined : projectOf(named);
  const old = before.rules.find((rule) => rule.project === project);
  const others = before.rules.flatMap((rule) => {
    if (rule.project === project) return [];
    // What a project had for itself is now as the installation says: that is a new rule for it.
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

/** Names a rule that would forget sessions before it archives them, which can only be a mistake. */
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
