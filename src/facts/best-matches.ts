import { kindOf, ROLES } from '../contracts/kinds.js';
import type { Match, SessionFact } from './fact-types.js';

/** Keeps the best of many matches in order, without sorting the others. */
export class BestMatches {
  readonly matches: Match[] = [];
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  /** How many hits a match needs at least to get in whose urgency is this or less, and whose dispatch is this or an older one. */
  hitsNeeded(urgency: number, sourceSequence: number): number {
    const worst = this.matches[this.#count - 1];
    if (worst === undefined) return 0;
    const behind = urgency - urgencyOf(worst.fact) || worst.fact.sourceSequence - sourceSequence;
    return behind > 0 ? worst.hits + 1 : worst.hits;
  }

  offer(match: Match): void {
    const { matches } = this;
    let at = matches.length;
    for (
      let before = matches[at - 1];
      before !== undefined && compare(match, before) < 0;
      before = matches[at - 1]
    ) {
      at -= 1;
    }
    if (at >= this.#count) return;
    matches.splice(at, 0, match);
    if (matches.length > this.#count) matches.pop();
  }
}

/** Urgency of what is least urgent; 0 is the most urgent. */
export const LEAST_URGENT = 3;

/** Relations of facts that say that something was done, and nothing of what or why. */
const BARE = new Set(['modified_by', ...ROLES.flatMap((role) => kindOf(role).relations.verdict ?? [])]);

/**
 * How urgent it is to know of a fact: a critical finding comes before an important one, then what is said in words, and
 * last a verdict or a file's modification.
 */
export function urgencyOf({ severity, relation }: Pick<SessionFact, 'severity' | 'relation'>): number {
  if (severity === 'critical') return 0;
  if (severity === 'important') return 1;
  return BARE.has(relation) ? LEAST_URGENT : 2;
}

/** Most hits first, then the most urgent, then the newest dispatch, and within one dispatch as its rules gave them. */
function compare(a: Match, b: Match): number {
  return (
    b.hits - a.hits ||
    urgencyOf(a.fact) - urgencyOf(b.fact) ||
    b.fact.sourceSequence - a.fact.sourceSequence ||
    a.order - b.order
  );
}
