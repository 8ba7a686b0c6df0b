import {
  ADVERBS,
  ARTICLES,
  AUXILIARIES,
  BY,
  CJK_DENIALS,
  CJK_EMPTY,
  CJK_HEDGE,
  CJK_USES,
  DENIALS,
  type DenialWords,
  EMPTY_WORDS,
  FROM_NOW_ON,
  GENERAL_SUBJECTS,
  INSTEAD_BY,
  JOINS,
  KINDS_OF_THINGS,
  MATTERS,
  MOVES_TO,
  PORTUGUESE_IN,
  REPLACES_UNNAMED,
  STOPS,
  USE_WITH,
  USES,
  VERB_AT_END,
  VERB_LAST,
  WHERE,
} from './denials.js';

/**
 * Finds what a new decision or rule takes back: it denies a term that an older one asserts, and both speak of the same
 * thing. Precision comes before recall: a statement that is ended wrongly is worse than two side by side. So the older one
 * must be one sentence that uses the term as such, and everything that limits the new one must be in the old one too.
 */
export interface Assertion {
  readonly text: string;
  readonly subject?: string | undefined;
}

const MAX_TEXT = 400;
const MAX_TERM = 4;
const MAX_TOPIC = 3;
const CLAUSE = /(?<=:)\s+|[;()]\s*|[.!]\s+|\s[–—]\s/u;
const SENTENCE_END = /[.!?;]\s+\S|[。！？；].*\S/u;
/** Between main clauses: "it formats with dayjs now, moment is gone". */
const PART = /, (?:and |und |y |et |e )?/iu;
const WORD = /[\p{L}\p{N}@_][\p{L}\p{N}@_.+#/-]*/gu;
const CJK = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;
const MARKS = /[.,/-]+$/;
const NEGATES =
  /^(?:not|no|never|without|nicht|nie|niemals|kein\p{L}*|ohne|nunca|jamás|sin|ni|pas|jamais|sans|ne|não|sem|(?:do|does|must|should|ca|wo)n['’]?t|don|doesn|mustn|shouldn|won|cannot)$/iu;

interface Word {
  readonly text: string;
  readonly low: string;
  /** The same for singular and plural. */
  readonly key: string;
  /** The characters between it and the word before. */
  readonly gap: string;
}

interface Denial {
  readonly term: string;
  readonly keys: readonly string[];
  /** Words that must be in what it takes back. */
  readonly topic: readonly string[];
  /** True for the name of a thing, which means the same everywhere. */
  readonly isName: boolean;
  readonly instead: readonly string[];
}

/** Tells what a statement takes back: the term that it denies and an older one asserts; undefined if none. */
export type TakesBack = (older: Assertion) => string | undefined;

/** Reads what a statement denies; undefined if it denies nothing. */
export function takesBack(statement: Assertion): TakesBack | undefined {
  const now = readable(statement.text);
  const byName = deniesByName(now, statement.subject);
  if (!REPLACES_UNNAMED.test(now)) return byName;
  return (older) => byName?.(older) ?? termReplaced(now, readable(older.text));
}

function deniesByName(now: string, subject: string | undefined): TakesBack | undefined {
  if (CJK.test(now)) {
    const denied = cjkDenials(now);
    return denied.length === 0
      ? undefined
      : (older) => (areApart(subject, older) ? undefined : cjkTerm(denied, readable(older.text)));
  }
  const about = keysOf(subject ?? '').filter((key) => !GENERAL_SUBJECTS.has(key));
  const denied = denialsIn(now);
  if (denied.length === 0) return undefined;
  return (older) => {
    if (areApart(subject, older)) return undefined;
    const before = readable(older.text);
    const known = [...keysOf(before), ...keysOf(older.subject ?? '')];
    const isKnown = (key: string) => known.some((other) => areAlike(other, key) || areOneMatter(other, key));
    return denied.find(
      (denial) =>
        [...denial.topic, ...about].every(isKnown) &&
        !(denial.instead.length > 0 && denial.instead.every(isKnown)) &&
        asserts(answerIn(before), denial),
    )?.term;
  };
}

/**
 * "Use dayjs instead. (Dates are formatted with dayjs now.)" names nothing older. It takes back what says the same with
 * another name at its end: "Dates are formatted with moment".
 */
function termReplaced(now: string, before: string): string | undefined {
  if (SENTENCE_END.test(before) || before.includes('?')) return undefined;
  if (CJK.test(before)) {
    const use = (text: string) => USED.flatMap((pattern) => [...text.matchAll(pattern)])[0] ?? [];
    const [[whole = '', term = ''], [other = '', name = '']] = [use(before), use(now)];
    const topic = before.replace(whole, ' ').replace(CJK_EMPTY, ' ').match(CJK_WORDS) ?? [];
    const isSame = topic.length > 0 && topic.every((word) => now.includes(word));
    return isSame && name !== term && whole.replace(term, '') === other.replace(name, '') ? term : undefined;
  }
  const words = wordsOf(before).filter((word) => isNoArticle(word) && !AUXILIARIES.has(word.low));
  const at =
    withoutVerbAtEnd(wordsOf(before)).length < wordsOf(before).length ? words.length - 2 : words.length - 1;
  const [by, term] = [words[at - 1], words[at]];
  const ours = wordsOf(now);
  const isKnown = ({ key }: Word) => ours.some((word) => areAlike(word.key, key));
  const isSame = words.length > 2 && words.every((word, place) => place === at || isKnown(word));
  return by !== undefined && term !== undefined && BY.has(by.low) && isSame && !isKnown(term)
    ? term.text
    : undefined;
}

/** The beginning of a text, with "in the" in Portuguese told from a negation. */
function readable(text: string): string {
  return text.slice(0, MAX_TEXT).replace(PORTUGUESE_IN, 'em').replace('(agent: ', '(');
}

/**
 * True for statements about two things. A newer one about "lib" or the whole project is about every thing, one about "order
 * storage" is about "orders: they are stored in files".
 */
function areApart(newer: string | undefined, { subject: older, text }: Assertion): boolean {
  if (newer === undefined || older === undefined) return false;
  const [ours, theirs] = [keysOf(newer), [...keysOf(older), ...keysOf(readable(text))]];
  if (ours.every((key) => GENERAL_SUBJECTS.has(key))) return false;
  return !ours.every((key) => theirs.some((other) => areAlike(other, key) || areOneMatter(other, key)));
}

/** True for words that name one matter: "db" and "storage". */
function areOneMatter(one: string, other: string): boolean {
  return MATTERS.some((matter) => matter.has(one) && matter.has(other));
}

function wordsOf(text: string): Word[] {
  let end = 0;
  return [...text.matchAll(WORD)].map(({ 0: raw, index }) => {
    const word = raw.replace(MARKS, '');
    const gap = text.slice(end, index);
    end = index + word.length;
    return { text: word, low: word.toLowerCase(), key: keyOf(word), gap };
  });
}

function keysOf(text: string): string[] {
  return wordsOf(text).map(({ key }) => key);
}

function keyOf(word: string): string {
  const lower = word.toLowerCase();
  return lower.length > 3 && /[^s]s$/.test(lower) ? lower.slice(0, -1) : lower;
}

/** True for words that differ in their ending only: "session" and "sessions", "validar" and "validan". */
function areAlike(one: string, other: string): boolean {
  if (one === other) return true;
  if (/\d$/.test(one) || /\d$/.test(other)) return false;
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  const rest = Math.max(one.length, other.length) - same;
  return same >= 4 && rest <= (same < 6 ? 2 : 3);
}

function isContent({ low }: Word): boolean {
  return (
    !EMPTY_WORDS.has(low) &&
    !WHERE.has(low) &&
    !BY.has(low) &&
    !USES.has(low) &&
    !JOINS.has(low) &&
    !NEGATES.test(low)
  );
}

function denialsIn(text: string): Denial[] {
  const spoken = Object.entries(DENIALS).filter(([, denialWords]) =>
    MARKERS.some((name) => markers(text, denialWords[name]).length > 0),
  );
  if (spoken.some(([, { hedge }]) => hedge.test(text))) return [];
  return spoken.flatMap(([language, denialWords]) => {
    const clauses = text
      .replace(FROM_NOW_ON, '')
      .split(CLAUSE)
      .map((clause) => clause.split(denialWords.reason)[0]?.trim() ?? '');
    return clauses.flatMap((clause, at) => {
      const lead = leadOf(clauses[at - 1] ?? '').map(({ key }) => key);
      return denialsOf(clause, denialWords, language).map((denial) => ({
        ...denial,
        topic: [...lead, ...denial.topic],
      }));
    });
  });
}

const MARKERS = ['instead', 'before', 'drops', 'after'] as const;

function markers(
  text: string,
  marker: RegExp | undefined,
): { readonly start: number; readonly end: number; readonly marker: string; readonly topic: string }[] {
  return marker === undefined
    ? []
    : [...text.matchAll(marker)].map(({ 0: found, index, groups }) => ({
        start: index,
        end: index + found.length,
        marker: found,
        topic: groups?.topic ?? '',
      }));
}

function denialsOf(clause: string, denialWords: DenialWords, language: string): Denial[] {
  const made = (
    term: readonly Word[],
    topic: readonly Word[],
    instead: readonly Word[],
    isAction = false,
  ): Denial[] =>
    term.length === 0 || term.length > MAX_TERM || topic.length > MAX_TOPIC
      ? []
      : [
          {
            term: term.map((word) => word.text).join(' '),
            keys: term.map(({ key }) => key),
            topic: topic.map(({ key }) => key),
            isName: isAction || [...term, ...instead].some((word) => isNameIn(word, language, clause)),
            instead: instead.map(({ key }) => key),
          },
        ];
  const instead = markers(clause, denialWords.instead).flatMap(({ start, end }) => {
    const { term, rest } = termOf(clause.slice(end));
    const before = wordsOf(clause.slice(0, start));
    const isLast = ({ low }: Word) => WHERE.has(low) || BY.has(low) || USES.has(low);
    const last = Math.max(0, before.findLastIndex(isLast));
    const purpose = before.findIndex((_, at) => at > last && isPurpose(before, at));
    const until = purpose < 0 ? before.length : purpose;
    const [verb, other] = [before.findIndex(isVerb), before.slice(last, until).filter(isContent)];
    // Without a known verb, all that stands before the last phrase says what it is about: "Publish with pnpm".
    const subject = before.slice(0, verb < 0 ? last : verb).filter(isContent);
    const where = [
      ...wherePart(before.slice(Math.max(0, verb), last)),
      ...before.slice(until).filter(isContent),
    ];
    return made(nameOf(term), [...subject, ...where, ...limits(rest)], other.length > MAX_TOPIC ? [] : other);
  });
  const before = markers(clause, denialWords.before).flatMap(({ start, end, marker }) => {
    const { term, rest, verb } = termOf(clause.slice(end));
    const topic = wordsOf(clause.slice(0, start)).filter(isContent);
    // "Nicht mehr mit npm installieren" ends with the verb.
    if (/^nicht/iu.test(marker)) topic.push(...term.splice(1));
    const action = !NOUN_FOLLOWS.test(marker) && !verb;
    const where = limits(rest, false);
    return made(
      action ? term : nameOf(term),
      [...topic, ...where],
      [],
      action && term.length + where.length > 1,
    );
  });
  const drops = markers(clause, denialWords.drops).flatMap(({ start, end, topic }) => {
    const earlier = [...wordsOf(clause.slice(0, start)), ...wordsOf(topic)];
    if (earlier.some(({ low }) => NEGATES.test(low))) return [];
    const { term, rest } = termOf(clause.slice(end));
    return made(nameOf(term), [...earlier.filter(isContent), ...limits(rest)], []);
  });
  const after = markers(clause, denialWords.after).flatMap(({ start, end }) => {
    const words = wordsOf(clause.slice(0, start).split(PART).at(-1) ?? '');
    const last = words.at(-1);
    if (last === undefined || !isContent(last)) return [];
    const verb = words.findLastIndex((word) => USES.has(word.low));
    const others = words.slice(0, -1).filter((word, at) => isContent(word) && at !== verb);
    return made([last], [...others, ...limits(wordsOf(clause.slice(end)))], []);
  });
  return [...instead, ...before, ...drops, ...after];
}

/** Negations of nouns: "no", "kein", "pas de", "nada de". */
const NOUN_FOLLOWS = /^\W*(?:\w+ )?(?:no(?: more)?|kein\w*|nicht .*|pas .*|jamais .*|nada de)$/iu;

/** A short title before a colon: "Dates: dayjs instead of moment". */
function leadOf(clause: string): Word[] {
  if (!clause.endsWith(':')) return [];
  const words = wordsOf(clause);
  const content = words.filter(isContent);
  return words.length <= MAX_TOPIC && !words.some(({ low }) => NEGATES.test(low)) ? content : [];
}

/** Returns the words that a marker denies, a name with its adjectives or an action with its object, and what limits them. */
function termOf(text: string): { readonly term: Word[]; readonly rest: Word[]; readonly verb: boolean } {
  const words = wordsOf(text);
  const term: Word[] = [];
  let at = 0;
  let verb = false;
  for (; at < words.length; at += 1) {
    const word = words[at] as Word;
    const { low, gap } = word;
    if (term.length > 0 ? /[,;:()]/.test(gap) : /[;:()]/.test(gap)) break;
    if (term.length > 0 && (JOINS.has(low) || NEGATES.test(low))) break;
    if (NEGATES.test(low)) continue;
    if (term.length === 0 && (EMPTY_WORDS.has(low) || USES.has(low) || USE_WITH.has(low))) {
      verb ||= USES.has(low) && !EMPTY_WORDS.has(low);
      continue;
    }
    // "Mock the database": an action and its object.
    if (ARTICLES.has(low)) continue;
    if (EMPTY_WORDS.has(low) || WHERE.has(low) || BY.has(low) || USES.has(low) || STOPS.has(low)) break;
    term.push(word);
  }
  return { term, rest: words.slice(at), verb };
}

/** "The Drizzle ORM" is Drizzle. */
function nameOf(term: readonly Word[]): readonly Word[] {
  const end = term.findLastIndex(({ low }) => !KINDS_OF_THINGS.has(low));
  return end < 0 ? term : term.slice(0, end + 1);
}

/** The words that say where a denial holds, without those that say by what the term is replaced. */
function limits(rest: readonly Word[], isReplaced = true): Word[] {
  const other = rest.findIndex(
    ({ low, gap }) =>
      (isReplaced && (INSTEAD_BY.has(low) || USES.has(low))) || (/[,;]/.test(gap) && !WHERE.has(low)),
  );
  if (other < 0) return rest.filter(isContent);
  // "From pino to winston for the worker": what takes the place of the term is followed by where.
  const end = rest.findIndex(({ gap }, at) => at >= other && /[,;]/.test(gap));
  const replaced = isReplaced ? wherePart(rest.slice(other, end < 0 ? rest.length : end)) : [];
  return [...rest.slice(0, other).filter(isContent), ...replaced];
}

function isVerb({ low }: Word): boolean {
  return USES.has(low) || AUXILIARIES.has(low);
}

/** "Use Biome to format", but not "switch to Biome". */
function isPurpose(words: readonly Word[], at: number): boolean {
  return words[at]?.low === 'to' && !MOVES_TO.has(words[at - 1]?.low ?? 'to');
}

function wherePart(words: readonly Word[]): Word[] {
  const found: Word[] = [];
  let isWhere = false;
  for (const word of words) {
    if (WHERE.has(word.low)) isWhere = true;
    else if (EMPTY_WORDS.has(word.low)) continue;
    else if (BY.has(word.low) || USES.has(word.low) || /[,;]/.test(word.gap)) isWhere = false;
    else if (isWhere && isContent(word)) found.push(word);
  }
  return found;
}

/** True for a word that names a thing: capitals inside a sentence, digits, or the look of a package. */
function isNameIn({ text }: Word, language: string, clause: string): boolean {
  if (/\d|[._@/]|\p{Ll}\p{Lu}|^\p{Lu}{2,}/u.test(text)) return true;
  if (/(?:js|ql|db|orm)$/u.test(text) || /^[bcdfghjklmnpqrstvwxz]{3,}$/u.test(text)) return true;
  if (!/^\p{Lu}/u.test(text) || clause.startsWith(text)) return false;
  // German nouns have capitals too.
  return language !== 'de' || !/(?:en|er|ung|heit|keit|chen|lein|ion|tät|e|s)$/u.test(text);
}

/** What a decision that is an answer says behind its question: "Which store? The user: "Redis"" says Redis. */
function answerIn(text: string): string {
  const reply = text.slice(text.lastIndexOf('? ') + 1).trim();
  return /^the user: "/i.test(reply) ? reply.replace(/^.*": |^the user: "|"$/gi, '') : reply;
}

/** True if a sentence uses the term as such, and not among others, in a reason, or as part of another name. */
function asserts(text: string, { keys, isName, topic }: Denial): boolean {
  if (SENTENCE_END.test(text) || text.includes('?')) return false;
  const reasons = Object.values(DENIALS).map(({ reason }) => text.search(reason));
  const end = Math.min(text.length, ...reasons.filter((at) => at > 0));
  const words = withoutVerbAtEnd(wordsOf(text.slice(0, end)).filter(isNoArticle));
  for (let at = 0; at + keys.length <= words.length; at += 1) {
    if (!keys.every((key, place) => words[at + place]?.key === key)) continue;
    const [before, after] = [words.slice(0, at), words.slice(at + keys.length)];
    if (before.some(({ low }) => NEGATES.test(low))) continue;
    if (denialsIn(text.slice(0, end)).some((denial) => denial.keys.join(' ') === keys.join(' '))) continue;
    const where = [...wherePart(before), ...after.filter(isContent)];
    const isElsewhere = where.some(({ key }) => !topic.some((topicKey) => areAlike(topicKey, key)));
    const isNamed = isName || isNameIn(words[at] as Word, 'en', text);
    if (!isNamed && isElsewhere) continue;
    if (isUsed(before, words[at] as Word, after)) return true;
  }
  return false;
}

/** "As" is an article in Portuguese, but stands before what is used in English. */
function isNoArticle({ low }: Word): boolean {
  return !ARTICLES.has(low) || low === 'as';
}

/** "Wird mit zod geprüft", "soll mit zod prüfen": German says last what is done. */
function withoutVerbAtEnd(words: readonly Word[]): readonly Word[] {
  const isGerman = words.slice(0, -1).some(({ low }) => VERB_AT_END.has(low));
  return isGerman && /(?:t|en)$/.test(words.at(-1)?.text ?? '') ? words.slice(0, -1) : words;
}

function isUsed(before: readonly Word[], first: Word, after: readonly Word[]): boolean {
  const rest = before.filter(({ low }) => !ADVERBS.has(low) && !/^\d+$/.test(low));
  const previous = rest.at(-1);
  const next = KINDS_OF_THINGS.has(after[0]?.low ?? '') ? after[1] : after[0];
  if (/[,/&+|]/.test(first.gap) || (next !== undefined && (/[/&+|]/.test(next.gap) || JOINS.has(next.low))))
    return false;
  if (previous !== undefined && JOINS.has(previous.low)) return false;
  const isAfter =
    previous === undefined ||
    /:/.test(first.gap) ||
    USES.has(previous.low) ||
    BY.has(previous.low) ||
    (next === undefined && AUXILIARIES.has(previous.low)) ||
    (previous.low === 'to' && MOVES_TO.has(rest.at(-2)?.low ?? '')) ||
    (next !== undefined && USES.has(next.low) && !isContent(next) && VERB_LAST.has(next.low));
  const isWhole = next === undefined || /[,:;(]/.test(next.gap) || !isContent(next);
  return isAfter && isWhole;
}

const NAME = String.raw`(?<![\w.+#/-])([A-Za-z][\w.+#/-]*(?: [A-Z0-9][\w.+#/-]*)?|(?<!\p{sc=Katakana}ー?)[\p{sc=Katakana}ー]{2,20})(?![\w.+#/ー-]|\p{sc=Katakana})`;
const named = (source: string) => new RegExp(source.replace('NAME', NAME), 'gu');
const DENIED = CJK_DENIALS.map(named);
const USED = CJK_USES.map(named);
const REASON = /因为|由于|なので|ため|ので|からです/u;

const CJK_WORDS = /[A-Za-z][\w.+#/-]*|[\p{sc=Han}\p{sc=Katakana}ー]{2,}/gu;

const HAN_PAIRS = /^(?:\p{sc=Han}{2}){2,}$/u;

type CjkDenial = Pick<Denial, 'term' | 'topic'>;

function cjkDenials(now: string): CjkDenial[] {
  if (CJK_HEDGE.test(now)) return [];
  const [text = ''] = now.split(REASON);
  // What takes the place of the term is a name, too.
  const names = new Set(text.match(/[A-Za-z][\w.+#/-]*/g) ?? []);
  return DENIED.flatMap((denied) =>
    [...text.matchAll(denied)].map(({ 0: whole, 1: term = '', index }) => {
      const others = `${text.slice(0, index)} ${text.slice(index + whole.length)}`.replace(CJK_EMPTY, ' ');
      const topic = others.match(CJK_WORDS) ?? [];
      return { term, topic: topic.filter((word) => !names.has(word)) };
    }),
  );
}

function cjkTerm(denied: readonly CjkDenial[], before: string): string | undefined {
  if (!CJK.test(before) || SENTENCE_END.test(before)) return undefined;
  const [clause = ''] = before.split(REASON);
  const removed = namesIn(clause, DENIED);
  const used = namesIn(clause, USED);
  return denied.find(
    ({ term, topic }) => !removed.has(term) && used.has(term) && topic.every((word) => isIn(clause, word)),
  )?.term;
}

/** True if a clause has a word, or each pair of its characters: "安装依赖" in "依赖用 npm 安装". */
function isIn(clause: string, word: string): boolean {
  const parts = HAN_PAIRS.test(word) ? (word.match(/../gu) ?? []) : [word];
  return parts.every((part) => clause.includes(part));
}

function namesIn(text: string, patterns: readonly RegExp[]): ReadonlySet<string | undefined> {
  return new Set(patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, term]) => term)));
}
