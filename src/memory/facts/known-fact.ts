import { SEVERITIES } from '../../contracts/severity.js';
import { oneSpelling } from '../../shared/text.js';
import { tokens } from '../search/tokens.js';
import { knownAs } from '../search/touched-files.js';
import { FACT_GROUPS, type FactGroup, groupOf, isBare, isSummary } from './fact-groups.js';
import type { IndexedFact, SessionFact } from './fact-types.js';

const MAX_WORDS = 120;
/** May be a path if it contains a slash. */
const PATH = /[\w@./-]+/g;
const DIGIT = /\d/;

/** Data derived from the fact alone. */
type Contents = Pick<
  IndexedFact,
  'words' | 'own' | 'numbers' | 'group' | 'standing' | 'isOfTask' | 'isBare' | 'isSummary'
> & { readonly paths: readonly string[] };

/** Cached: facts are immutable and may be in several stores. */
const known = new WeakMap<SessionFact, Contents>();

export class KnownFact implements IndexedFact {
  readonly fact: SessionFact;
  readonly slot: number;
  readonly place: number;
  readonly group: FactGroup;
  readonly standing: number;
  readonly words: readonly string[];
  readonly own: number;
  readonly numbers: string;
  readonly isOfTask: boolean;
  readonly isBare: boolean;
  readonly isSummary: boolean;
  readonly isDull: boolean;
  /** Paths that it is about or mentions. */
  readonly paths: readonly string[];
  #saying: string | undefined;

  constructor(fact: SessionFact, slot: number, place: number) {
    const contents = known.get(fact) ?? contentsOf(fact);
    known.set(fact, contents);
    this.fact = fact;
    this.slot = slot;
    this.place = place;
    this.group = contents.group;
    this.standing = contents.standing;
    this.words = contents.words;
    this.own = contents.own;
    this.numbers = contents.numbers;
    this.isOfTask = contents.isOfTask;
    this.isBare = contents.isBare;
    this.isSummary = contents.isSummary;
    this.isDull = this.group === 'files' || this.isBare;
    this.paths = contents.paths;
  }

  /** Lazy, since it is rarely needed. */
  get saying(): string {
    if (this.#saying === undefined) {
      const said = oneSpelling(this.fact.object);
      this.#saying = this.isOfTask ? said : `${this.fact.subject}\n${said}`;
    }
    return this.#saying;
  }
}

function contentsOf(fact: SessionFact): Contents {
  const { subject, relation, object, sourceTaskId } = fact;
  const isOfTask = subject === `task:${sourceTaskId}`;
  const changes = groupOf({ relation, tags: [] }) === 'files';
  const said = changes ? [] : tokens(object, MAX_WORDS);
  // The slash prevents a first word from being read as a verb.
  const of = isOfTask ? [] : tokens(`/${subject}`, MAX_WORDS);
  const paths = [...(isOfTask ? [] : [subject]), ...(changes ? [] : pathsIn(object))].map(knownAs);
  const group = groupOf(fact);
  return {
    words: [...new Set([...said, ...of])],
    own: said.length,
    numbers: said
      .filter((word) => DIGIT.test(word))
      .sort()
      .join(' '),
    group,
    standing: standingOf(fact, group),
    isOfTask,
    isBare: isBare(fact),
    isSummary: isSummary(fact),
    paths: [...new Set(paths)],
  };
}

function standingOf({ severity }: SessionFact, group: FactGroup): number {
  const place = severity === undefined ? SEVERITIES.length : SEVERITIES.indexOf(severity);
  return FACT_GROUPS.indexOf(group) * (SEVERITIES.length + 1) + place;
}

function pathsIn(text: string): string[] {
  return (text.match(PATH) ?? []).filter((word) => /[^/]\/[^/]/.test(word));
}
