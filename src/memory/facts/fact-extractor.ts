import { KEPT } from '../../contracts/kept-limits.js';
import { kindOf, ROLES, type Role } from '../../contracts/kinds.js';
import type { AnyResult, ResultOf, RoleResult } from '../../contracts/results.js';
import { clipSummary, conclusionOf, oneLine } from '../../shared/text.js';
import { EXTRACTION_RULES, type ExtractionRule } from './extraction-rules.js';
import {
  bytesOfFact,
  type DispatchOrigin,
  factId,
  type IFactExtractor,
  type RecordedFact,
  type SessionFact,
  saysTheSame,
} from './fact-types.js';

/** Custom rules and limits. */
export interface FactExtractorOptions {
  readonly rules?: readonly ExtractionRule[];
  /** Called if a rule throws; the other rules still run. */
  readonly onRuleFailure?: (rule: string, error: unknown) => void;
  readonly maxFacts?: number;
}

/** The facts of one result. */
export interface Extraction {
  readonly facts: readonly RecordedFact[];
  /** Number of further facts, beyond `maxFacts` or the event's size: they stay in the dispatch only. */
  readonly omitted: number;
}

/** Runs the rules in order. Deterministic. */
export class RuleBasedFactExtractor implements IFactExtractor {
  readonly #rules: Readonly<Record<Role, readonly ExtractionRule[]>>;
  readonly #onRuleFailure: (rule: string, error: unknown) => void;
  readonly #maxFacts: number;

  constructor(options: FactExtractorOptions = {}) {
    this.#rules = options.rules === undefined ? RULES_BY_ROLE : rulesByRole(options.rules);
    this.#onRuleFailure = options.onRuleFailure ?? (() => {});
    this.#maxFacts = options.maxFacts ?? KEPT.fact.perDispatch;
  }

  extractFromImplementer(result: ResultOf<'implementer'>, origin: DispatchOrigin): SessionFact[] {
    return this.#extractFrom({ role: 'implementer', result }, origin);
  }

  extractFromReviewer(result: ResultOf<'reviewer'>, origin: DispatchOrigin): SessionFact[] {
    return this.#extractFrom({ role: 'reviewer', result }, origin);
  }

  /** Extracts the facts of a result for its event, without duplicates. */
  extract(returned: RoleResult, taskId: string): Extraction {
    const { role, result } = withShortSummary(returned);
    const facts: RecordedFact[] = [];
    let omitted = 0;
    let bytes = 0;
    for (const rule of this.#rules[role]) {
      try {
        for (const fact of rule.extract(result, taskId, role)) {
          // A linear search: hashing a few facts would take longer.
          if (facts.some((known) => saysTheSame(known, fact))) continue;
          const size = bytesOfFact(fact);
          if (facts.length < this.#maxFacts && bytes + size <= KEPT.fact.bytesPerDispatch) {
            facts.push(fact);
            bytes += size;
          } else omitted += 1;
        }
      } catch (error) {
        this.#onRuleFailure(rule.name, error);
      }
    }
    return { facts, omitted };
  }

  #extractFrom(returned: RoleResult, origin: DispatchOrigin): SessionFact[] {
    const { facts } = this.extract(returned, origin.taskId);
    const history = returned.result.history === true && { history: true as const };
    return facts.map((fact) => sessionFact(fact, { ...origin, ...history, role: returned.role }));
  }
}

function rulesByRole(rules: readonly ExtractionRule[]): Record<Role, ExtractionRule[]> {
  const runs = (role: Role) =>
    rules.filter(({ field }) => field === undefined || kindOf(role).fields.includes(field));
  return Object.fromEntries(ROLES.map((role) => [role, runs(role)])) as Record<Role, ExtractionRule[]>;
}

const RULES_BY_ROLE = rulesByRole(EXTRACTION_RULES);

export function sessionFact(fact: RecordedFact, origin: DispatchOrigin, eventSequence = 0): SessionFact {
  const finding = fact.severity && { severity: fact.severity, ...(fact.fix && { fix: fact.fix }) };
  return {
    id: factId(fact),
    subject: fact.subject,
    relation: fact.relation,
    object: fact.object,
    tags: fact.tags,
    ...finding,
    validFrom: origin.at,
    sourceTaskId: origin.taskId,
    sourceRole: origin.role,
    sourceSequence: origin.sequence,
    eventSequence,
    confidence: fact.confidence ?? 1,
    ...(fact.origin !== undefined && { origin: fact.origin }),
    ...(fact.ref !== undefined && { ref: fact.ref }),
    ...(fact.scope !== undefined && { scope: fact.scope }),
    ...(origin.history && { history: origin.history }),
  };
}

/** Shortens a summary that is too long for an event: to its conclusion, if it has one, else to its beginning. */
export function withShortSummary<Returned extends RoleResult>(returned: Returned): Returned {
  const { summary } = returned.result as Pick<AnyResult, 'summary'>;
  const { text: most } = KEPT.outcome;
  if (summary === undefined || summary.length <= most) return returned;
  const short = clipSummary(oneLine(conclusionOf(summary, most)), most);
  return { ...returned, result: { ...returned.result, summary: short } };
}
