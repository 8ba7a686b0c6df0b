import type { FactTag } from '../../contracts/kinds.js';
import { lastResult, type ResultText } from '../../contracts/reading/last-result.js';
import { LINES_LEFT_OUT } from '../../contracts/reading/repairs.js';
import { RELATIONS } from '../../contracts/relations.js';
import { clipText, distinctTexts, isObject, oneLine, oneSpelling } from '../../shared/text.js';
import { BY_USER } from '../../shared/wire-words.js';
import { tellingWords, withoutCode } from './sentences.js';
import { isOffer } from './stated-lines.js';

/**
 * Reads the labelled lines at the end of an agent's message, by which it says what later agents must know:
 * `Decided: …`, `Rule: …`, `Found: …`, `Failed: … because …`, `Open: …`. `Settled M9: …` and `Decided instead of M7: …`
 * name the statements that they end.
 *
 * A line may be an item of a list, and its label may be bold, in any case. Indented lines below it belong to it. Lines in
 * code blocks, also indented ones, and quotations do not count.
 */
export interface LabelledLines {
  readonly decisions: readonly string[];
  readonly rules: readonly string[];
  readonly found: readonly string[];
  readonly failed: readonly string[];
  readonly open: readonly string[];
  readonly questions: readonly string[];
  readonly settled: readonly string[];
  /** By text: ids of the statements that it ends. */
  readonly replaces: ReadonlyMap<string, readonly string[]>;
  /** Number of lines that are cut, or beyond the limit. */
  readonly leftOut: number;
}

const LABELS = {
  decided: 'decisions',
  rule: 'rules',
  found: 'found',
  failed: 'failed',
  open: 'open',
  settled: 'settled',
} as const;

/** Asks an agent for these lines; it costs 90 tokens. */
export const LINES_WANTED = `End your last message with a line each, in any language, for what later agents must know, if anything:
Decided: …
Rule: …
Found: …
Failed: … because …
Open: …
Settled M9: …
To replace a line: Decided instead of M7: …
What the user decides, wants always or forbids counts.`;

/** Characters of a line that are read. */
const MAX_READ = 1000;
const MAX_LINES = 20;
const MAX_TEXT = 300;

const ID = String.raw`(?:[\w-]{1,64}/)?[MN]\d[\d.v]{0,20}`;
const LINE = new RegExp(
  String.raw`^(?<indent>\s{0,3}(?!\s)|\s*(?=[-*+•]\s|\d))(?:(?:[-*+•]|\d+[.)])\s+)?(?<bold>\*\*|__)?(?<label>${Object.keys(LABELS).join('|')})(?:\s+(?:instead\s+of\s+)?(?<ids>${ID}(?:(?:\s*[,，、&]\s*(?:and\s+)?|\s+and\s+)${ID}){0,9}))?(?:\k<bold>)?\s*(?:[:：]|\s[–—]\s)(?:\*\*|__)?\s*(?<text>.*)$`,
  'iu',
);
const NOTHING = /^(?:none|nothing|n\/a|[-–—.\s]*)\.?$/i;

/** Returns the labelled lines of a message; undefined if it has none, or only some that say nothing. */
export function labelledLines(message: string): LabelledLines | undefined {
  const items: {
    readonly label: string;
    readonly ids: readonly string[];
    readonly indent: number;
    text: string;
  }[] = [];
  let isOpen = false;
  for (const whole of withoutCode(message).split('\n')) {
    const line = whole.slice(0, MAX_READ);
    const { label, ids: named = '', indent = '', text = '' } = LINE.exec(line)?.groups ?? {};
    const last = items.at(-1);
    const ids = named.split(/[\s,，、&]+/).filter((word) => /\d/.test(word));
    if (label !== undefined) items.push({ label: label.toLowerCase(), ids, indent: indent.length, text });
    else if (isOpen && last !== undefined && isBelow(line, last.indent)) last.text += ` ${line.trim()}`;
    isOpen = label !== undefined || (isOpen && last !== undefined && isBelow(line, last.indent));
  }
  const statements = items
    .map(({ label, ids, text }) => ({ label, ids, whole: plain(text) }))
    .filter(({ label, ids, whole }) => !NOTHING.test(whole) && (label !== 'settled' || ids.length > 0))
    .filter(({ label, whole }) => label !== 'open' || !isOffer(whole));
  if (statements.length === 0) return undefined;
  type Kind = Exclude<keyof LabelledLines, 'leftOut' | 'replaces'>;
  const found: Record<Kind, string[]> = {
    decisions: [],
    rules: [],
    found: [],
    failed: [],
    open: [],
    questions: [],
    settled: [],
  };
  const replaces = new Map<string, readonly string[]>();
  for (const { label, ids, whole } of statements.slice(0, MAX_LINES)) {
    const text = clipText(whole, MAX_TEXT);
    if (ids.length > 0) replaces.set(text, [...(replaces.get(text) ?? []), ...ids]);
    const kind = LABELS[label as keyof typeof LABELS];
    found[kind === 'open' && /[?？]$/.test(text) ? 'questions' : kind].push(text);
  }
  for (const [kind, texts] of Object.entries(found)) found[kind as Kind] = [...distinctTexts(texts)];
  const lost = statements.filter(({ whole }, at) => at >= MAX_LINES || clipText(whole, MAX_TEXT) !== whole);
  return { ...found, replaces, leftOut: lost.length };
}

export function withoutLabelled(message: string): string {
  let indent: number | undefined;
  const isOther = (line: string) => {
    const found = LINE.exec(line.slice(0, MAX_READ))?.groups;
    if (found !== undefined) indent = found.indent?.length;
    else if (indent !== undefined && !isBelow(line, indent)) indent = undefined;
    return indent === undefined;
  };
  return message.split('\n').filter(isOther).join('\n');
}

/** The result block that ends a message, and the message without it. Labelled lines may follow the block. */
export function resultAmongLines(message: string): (ResultText & { readonly around: string }) | undefined {
  const found = lastResult(message) ?? lastResult(withoutLabelled(message));
  return found && { ...found, around: message.replace(found.text, () => '') };
}

type StatedLines = Omit<LabelledLines, 'open' | 'leftOut'>;

/** Returns the facts that lines become in a result of their task; its open points are follow-up actions. */
export function factsOfLines(lines: StatedLines, task: string, suggested: readonly string[] = []) {
  const facts = (relation: string, texts: readonly string[], tags: readonly FactTag[] = []) =>
    texts.map((object) => ({
      subject: `task:${task}`,
      relation,
      object,
      ...(tags.length > 0 && { tags }),
      ...(lines.replaces.has(object) && { replaces: [...(lines.replaces.get(object) ?? [])] }),
    }));
  return [
    ...facts(RELATIONS.decided, lines.decisions, ['decision']),
    ...facts(RELATIONS.rule, lines.rules, ['convention']),
    ...facts(RELATIONS.failed, lines.failed, ['error']),
    ...facts(RELATIONS.settled, lines.settled),
    ...facts(RELATIONS.found, lines.found),
    ...facts(RELATIONS.asks, lines.questions, ['dependency']),
    ...facts(RELATIONS.suggested, suggested),
  ];
}

/**
 * Adds the labelled lines of a message to the result that the message holds. A line in the words of a fact, an action or a
 * question is one statement with it. Open points are follow-up actions of a result with a status; any other suggests them.
 */
export function withLines<Result extends object>(result: Result, message: string, task: string): Result {
  const lines = labelledLines(message);
  if (lines === undefined) return result;
  const fields = result as Readonly<Record<string, unknown>>;
  const given = [fields.facts ?? []].flat();
  const actions = [fields.follow_up_actions ?? []].flat();
  const failure = fields.status === 'failed' ? fields.summary : [];
  const others = [...actions, fields.questions ?? [], failure].flat();
  const otherWords = new Set(others.flatMap((other) => sayings(isObject(other) ? other.text : other)));
  const isNew = (text: string) => !otherWords.has(sayings(text)[0] ?? '');
  const [open, suggested] = 'status' in result ? [lines.open.filter(isNew), []] : [[], lines.open];
  const stated = factsOfLines(lines, task, suggested);
  const repeated = new Set<unknown>();
  const facts = given.map((fact) => {
    if (!isObject(fact)) return fact;
    const known = sayings(fact.object, fact.subject);
    const isSame = ({ object, relation }: (typeof stated)[number]) =>
      relation !== RELATIONS.settled && known.includes(sayings(object)[0] ?? '');
    const line = stated.find(isSame);
    repeated.add(line);
    return line?.replaces ? { ...fact, replaces: [fact.replaces ?? [], line.replaces].flat() } : fact;
  });
  const added = stated.filter((line) => !repeated.has(line) && (line.replaces || isNew(line.object)));
  return {
    ...result,
    ...(facts.length + added.length > 0 && { facts: [...facts, ...added] }),
    ...(open.length > 0 && { follow_up_actions: [...actions, ...open] }),
    ...(lines.leftOut > 0 && { [LINES_LEFT_OUT]: lines.leftOut }),
  };
}

/** The words that a text tells, alone and with the subject of its fact before or after it. */
function sayings(text: unknown, about?: unknown): string[] {
  if (typeof text !== 'string') return [];
  const words = (part: string) => tellingWords(part).join(' ') || oneSpelling(part);
  const alone = words(text);
  if (typeof about !== 'string' || about.startsWith('task:')) return [alone];
  return [alone, `${words(about)} ${alone}`, `${alone} ${words(about)}`];
}

function isBelow(line: string, indent: number): boolean {
  return line.trim() !== '' && line.length - line.trimStart().length > indent && !/^\s*>/.test(line);
}

function plain(text: string): string {
  const marked = text.replace(/(\*\*|__)(?=\S)([^*]+?)\1/g, '$2').trim();
  // A line that is bold as a whole ends with a mark that begins before its label.
  const words = oneLine(marked.replace(/(?:\*\*|__)$/, '').replace(/`+/g, ''));
  // The words that begin a sentence of the user are not the agent's to write.
  return words.replaceAll(BY_USER, 'the user: ');
}
