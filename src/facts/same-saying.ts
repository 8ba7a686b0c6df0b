import type { IndexedFact } from './fact-types.js';

/** Share of common words from which two facts say the same. */
const SAME = 0.8;

/** Whether two facts say nearly the same of the same thing. "Case 7" and "case 8" are two matters. */
export function saySame(a: IndexedFact, b: IndexedFact): boolean {
  if (a.fact.subject !== b.fact.subject && !a.isOfTask && !b.isOfTask) return false;
  if (a.group === 'files' || b.group === 'files') return a.group === b.group;
  if (a.numbers !== b.numbers) return false;
  // The shorter one cannot hold enough of the longer one.
  if (Math.min(a.own, b.own) < SAME * Math.max(a.own, b.own)) return false;
  let common = 0;
  for (let at = 0; at < a.own; at += 1) {
    const found = b.words.indexOf(a.words[at] as string);
    if (found >= 0 && found < b.own) common += 1;
  }
  return common >= SAME * (a.own + b.own - common);
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
