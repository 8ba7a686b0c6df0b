import { KEPT } from '../contracts/kept.js';
import type { ImplementerResult, ReviewerResult, RoleResult } from '../contracts/results.js';
import { type ExtractionRule, IMPLEMENTER_RULES, REVIEWER_RULES } from './extraction-rules.js';
import { saysTheSame } from './fact-id.js';
import type { DispatchOrigin, IFactExtractor, RecordedFact, SessionFact } from './fact-types.js';

export interface FactExtractorOptions {
  readonly implementerRules?: readonly ExtractionRule<ImplementerResult>[];
  readonly reviewerRules?: readonly ExtractionRule<ReviewerResult>[];
  /** Told when a rule throws; the other rules still run. */
  readonly onRuleFailure?: (rule: string, error: unknown) => void;
  readonly maxFacts?: number;
}

/** What the rules found in one result. */
export interface Extraction {
  readonly facts: readonly RecordedFact[];
  /** How many more were found than `maxFacts`: these are in the dispatch, not in the memory. */
  readonly omitted: number;
}

/** Runs the rules in their order. The same result gives the same facts. */
export class RuleBasedFactExtractor implements IFactExtractor {
  readonly #implementerRules: readonly ExtractionRule<ImplementerResult>[];
  readonly #reviewerRules: readonly ExtractionRule<ReviewerResult>[];
  readonly #onRuleFailure: (rule: string, error: unknown) => void;
  readonly #maxFacts: number;

  constructor(options: FactExtractorOptions = {}) {
    this.#implementerRules = options.implementerRules ?? IMPLEMENTER_RULES;
    this.#reviewerRules = options.reviewerRules ?? REVIEWER_RULES;
    this.#onRuleFailure = options.onRuleFailure ?? (() => {});
    this.#maxFacts = options.maxFacts ?? KEPT.fact.perDispatch;
  }

  extractFromImplementer(result: ImplementerResult, origin: DispatchOrigin): SessionFact[] {
    const { facts } = this.extract({ role: 'implementer', result }, origin.taskId);
    return facts.map((fact) => sessionFact(fact, { ...origin, role: 'implementer' }));
  }

  extractFromReviewer(result: ReviewerResult, origin: DispatchOrigin): SessionFact[] {
    const { facts } = this.extract({ role: 'reviewer', result }, origin.taskId);
    return facts.map((fact) => sessionFact(fact, { ...origin, role: 'reviewer' }));
  }

  /** The facts of a result as an event carries them, each once. */
  extract({ role, result }: RoleResult, taskId: string): Extraction {
    return role === 'implementer'
      ? this.#run(this.#implementerRules, result, taskId)
      : this.#run(this.#reviewerRules, result, taskId);
  }

  #run<Result>(rules: readonly ExtractionRule<Result>[], result: Result, taskId: string): Extraction {
    const facts: RecordedFact[] = [];
    let omitted = 0;
    for (const rule of rules) {
      try {
        for (const fact of rule.extract(result, taskId)) {
          // One by one, since they are few: to hash the words of each would take longer.
          if (facts.some((known) => saysTheSame(known, fact))) continue;
          if (facts.length < this.#maxFacts) facts.push(fact);
          else omitted += 1;
        }
      } catch (error) {
        this.#onRuleFailure(rule.name, error);
      }
    }
    return { facts, omitted };
  }
}

/** A recorded fact together with the dispatch that said it, and the event that carries it. */
export function sessionFact(fact: RecordedFact, origin: DispatchOrigin, eventSequence = 0): SessionFact {
  const said = {
    subject: fact.subject,
    relation: fact.relation,
    object: fact.object,
    tags: fact.tags,
    validFrom: origin.at,
    sourceTaskId: origin.taskId,
    sourceRole: origin.role,
    sourceSequence: origin.sequence,
    eventSequence,
    confidence: fact.confidence ?? 1,
  };
  return fact.id === undefined ? said : { id: fact.id, ...said };
}
