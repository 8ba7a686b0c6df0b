import { KEPT } from '../../contracts/kept.js';
import { kindOf, ROLES, type Role } from '../../contracts/kinds.js';
import type { ResultOf, RoleResult } from '../../contracts/results.js';
import { EXTRACTION_RULES, type ExtractionRule } from './extraction-rules.js';
import {
  bytesOfFact,
  type DispatchOrigin,
  type IFactExtractor,
  type RecordedFact,
  type SessionFact,
  saysTheSame,
} from './fact-types.js';

/** Other rules than those of the product, and limits. */
export interface FactExtractorOptions {
  readonly rules?: readonly ExtractionRule[];
  /** Told when a rule throws; the other rules still run. */
  readonly onRuleFailure?: (rule: string, error: unknown) => void;
  readonly maxFacts?: number;
}

/** What the rules found in one result. */
export interface Extraction {
  readonly facts: readonly RecordedFact[];
  /** How many more were found than `maxFacts`, or than fit an event: these are in the dispatch, not in the memory. */
  readonly omitted: number;
}

/** Runs the rules in their order. The same result gives the same facts. */
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

  /** The facts of a result as an event carries them, each once. */
  extract({ role, result }: RoleResult, taskId: string): Extraction {
    const facts: RecordedFact[] = [];
    let omitted = 0;
    let bytes = 0;
    for (const rule of this.#rules[role]) {
      try {
        for (const fact of rule.extract(result, taskId, role)) {
          // One by one, since they are few: to hash the words of each would take longer.
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

/** The rules that run for each kind: those that read a field that it has. */
function rulesByRole(rules: readonly ExtractionRule[]): Record<Role, ExtractionRule[]> {
  const runs = (role: Role) =>
    rules.filter(({ field }) => field === undefined || kindOf(role).fields.includes(field));
  return Object.fromEntries(ROLES.map((role) => [role, runs(role)])) as Record<Role, ExtractionRule[]>;
}

const RULES_BY_ROLE = rulesByRole(EXTRACTION_RULES);

/** A recorded fact together with the dispatch that said it, and the event that carries it. */
export function sessionFact(fact: RecordedFact, origin: DispatchOrigin, eventSequence = 0): SessionFact {
  const finding = fact.severity && { severity: fact.severity, ...(fact.fix && { fix: fact.fix }) };
  return {
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
    ...(origin.history && { history: origin.history }),
  };
}
