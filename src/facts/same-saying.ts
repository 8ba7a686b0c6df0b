import { oneSpelling } from '../shared/distinct-texts.js';
import type { IndexedFact } from './fact-types.js';

/** Share of common words from which two facts say the same. */
const SAME = 0.8;

/** Whether two facts say nearly the same of the same thing. "Case 7" and "case 8" are two matters. */
export function saySame(a: IndexedFact, b: IndexedFact): boolean {
  if (a.fact.subject !== b.fact.subject && !isOfTask(a) && !isOfTask(b)) return false;
  if (a.group === 'files' || b.group === 'files') return a.group === b.group;
  if (a.numbers !== b.numbers) return false;
  // The shorter one cannot hold enough of the longer one.
  if (Math.min(a.own, b.own) < SAME * Math.max(a.own, b.own)) return false;
  const [one, other] = [a.words.slice(0, a.own), b.words.slice(0, b.own)];
  const common = one.filter((word) => other.includes(word)).length;
  return common >= SAME * (one.length + other.length - common);
}

/** Facts that a new one is compared with. Only those with the same numbers can say the same: no others are looked at. */
export class Sayings {
  readonly #most: number;
  readonly #files: IndexedFact[] = [];
  readonly #byNumbers = new Map<string, IndexedFact[]>();
  #size = 0;

  /** @param most facts that are compared; later ones are not */
  constructor(most: number) {
    this.#most = most;
  }

  add(entry: IndexedFact): void {
    if (this.#size >= this.#most) return;
    this.#size += 1;
    const alike = this.#alike(entry);
    if (alike === undefined) this.#byNumbers.set(entry.numbers, [entry]);
    else alike.push(entry);
  }

  /** The first that says the same. */
  sameAs(entry: IndexedFact): IndexedFact | undefined {
    return this.#alike(entry)?.find((other) => saySame(entry, other));
  }

  #alike(entry: IndexedFact): IndexedFact[] | undefined {
    return entry.group === 'files' ? this.#files : this.#byNumbers.get(entry.numbers);
  }
}

/** Whether a fact is about its task as a whole. */
function isOfTask({ fact }: IndexedFact): boolean {
  return fact.subject === `task:${fact.sourceTaskId}`;
}

/** What a fact says, and of what: of two with the same the newer is enough. */
export function sayingOf(entry: IndexedFact): string {
  const said = oneSpelling(entry.fact.object);
  return isOfTask(entry) ? said : `${entry.fact.subject}\n${said}`;
}
