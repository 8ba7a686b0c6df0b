import { oneSpelling } from '../shared/distinct-texts.js';
import type { IndexedFact } from './fact-types.js';

/** Share of common words from which two facts say the same. */
const SAME = 0.8;

/** Whether two facts say nearly the same of the same thing. "Case 7" and "case 8" are two matters. */
export function saySame(a: IndexedFact, b: IndexedFact): boolean {
  if (a.fact.subject !== b.fact.subject && !isOfTask(a) && !isOfTask(b)) return false;
  if (a.group === 'files' || b.group === 'files') return a.group === b.group;
  if (numbersOf(a) !== numbersOf(b)) return false;
  const [one, other] = [a.words.slice(0, a.own), b.words.slice(0, b.own)];
  // The shorter one cannot hold enough of the longer one.
  if (Math.min(one.length, other.length) < SAME * Math.max(one.length, other.length)) return false;
  const common = one.filter((word) => other.includes(word)).length;
  return common >= SAME * (one.length + other.length - common);
}

/** A fact is compared with many others: its numbers are looked for once. */
const numbers = new WeakMap<IndexedFact, string>();

function numbersOf(entry: IndexedFact): string {
  const known = numbers.get(entry);
  if (known !== undefined) return known;
  const own = entry.words.slice(0, entry.own).filter((word) => /\d/.test(word));
  const found = own.sort().join(' ');
  numbers.set(entry, found);
  return found;
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
