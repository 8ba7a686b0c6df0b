import type { RecordedEntry } from '../../contracts/trace-entry.js';
import { clipText, distinctTexts, named, oneLine, withoutEnd } from '../../shared/text.js';
import { ANSWERED, BY_USER } from '../../shared/wire-words.js';
import { type LabelledLines, labelledLines, withoutLabelled } from './labelled-lines.js';
import { decided, paragraphsOf, sentencesOf, tellingWords } from './sentences.js';
import {
  isFinding,
  isLeftOpen,
  isOffer,
  isOwnChoice,
  statedByUser,
  type UserStatements,
} from './stated-lines.js';
import {
  baseOf,
  changedFiles,
  changeOf,
  commandParts,
  effectOf,
  effectOfPart,
  isOfShell,
} from './tool-effects.js';
import { DESCRIBES, ROUND } from './wordings.js';

/** Summary of a finished turn, by rules: the request, what the tools changed and ran, and what the last message says. */
export interface FinishedTurn extends LabelledLines {
  /** The request, then what was done, in one line; empty for a turn that only stated something. */
  readonly summary: string;
  readonly files: readonly string[];
  readonly deleted: readonly string[];
  readonly renamed: FilesChanged['renamed'];
  /** Runs of builds, tests and linters: the newest of each command. */
  readonly tests: readonly { readonly command: string; readonly passed: boolean }[];
  readonly commits: readonly string[];
  /** The list directly at the last question. */
  readonly options: readonly string[];
  /** The user's paragraphs that may take something back: "drop Redis, a table is enough". */
  readonly requests: readonly string[];
  /** Those that are the user's sentences, or labelled lines: the agent wrote them for its user to see. */
  readonly authored: readonly string[];
}

export interface FilesChanged {
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  readonly reverted: readonly string[];
}

interface TurnParts {
  /** The user's request; empty for an agent that was called by another agent. */
  readonly request: string;
  readonly message: string;
  readonly entries: readonly RecordedEntry[];
  /** Commits that it made: then something has changed whatever the tools say. */
  readonly commits: readonly string[];
  readonly answer?: string | undefined;
  readonly git?: FilesChanged | undefined;
}

const MAX_FILES = 50;
const MAX_TESTS = 10;
const MAX_SAID = 3;
const MAX_REQUEST = 120;
const MAX_SENTENCE = 200;
const MAX_COMMAND = 100;
const LABEL_WORDS = 4;
const MAX_LABEL = 80;
const MAX_LEAD_IN = 20;

/**
 * The turn; undefined for one that only read or chatted, and has nothing to tell.
 *
 * The agent's labelled lines count as they are. Without any, only sentences count that are almost certain: the user's own
 * rules and choices, and of a turn that did something what the agent says it chose or left open.
 */
export function finishedTurn(parts: TurnParts): FinishedTurn | undefined {
  const { request, message, entries, commits, answer, git } = parts;
  const succeeded = entries.filter(({ status }) => status === 'SUCCESS');
  const { scratch, removed, ...touched } = filesOf(succeeded, git);
  const { files } = touched;
  const tests = testsOf(entries);
  const stated = contentOf(withoutLabelled(message), scratch);
  const isRun = stated.done !== undefined && entries.some((entry) => ranOf(entry).length > 0);
  const isChange = succeeded.some((entry) => effectOf(entry) === 'change');
  const hasChanged = isChange || [files, commits, removed].some((list) => list.length > 0);
  const isWork = isRun || hasChanged || tests.length > 0;
  const user = statedByUser(request);
  const answers = answer === undefined ? [] : [answer];
  const part = { changed: hasChanged, worked: isWork, looked: entries.length > 0 };
  const statements = statementsOf(user, answers, message, stated, part);
  const { decisions, rules, found, failed, settled, open, questions } = statements;
  const states = [decisions, rules, found, failed, settled, open, questions].some((list) => list.length > 0);
  if (!isWork && !states) return undefined;
  // What a turn only states has lines of its own, which end when it is replaced.
  const done = isWork || questions.length > 0 ? stated.done : undefined;
  const summaryParts = [requestIn(request, [...user.rules, ...user.choices]), done ?? '', ...removed];
  const summary = summaryParts
    .filter((text) => text !== '')
    .map((text, at, all) => (at + 1 < all.length ? withoutEnd(text) : text))
    .join(': ');
  const changes = commits[0] ?? (files.length === 0 ? '' : `Changed ${files.slice(0, MAX_SAID).join(', ')}`);
  return { summary: summary === '' ? changes : summary, ...touched, tests, commits, ...statements };
}

type Statements = Omit<FinishedTurn, 'summary' | 'files' | 'deleted' | 'renamed' | 'tests' | 'commits'>;

function statementsOf(
  user: UserStatements,
  answers: readonly string[],
  message: string,
  stated: Stated,
  part: { readonly changed: boolean; readonly worked: boolean; readonly looked: boolean },
): Statements {
  const choices = [...answers, ...user.choices.map((text) => `${BY_USER}${text}`)];
  const rules = user.rules.map((text) => `${BY_USER}${text}`);
  const labelled = labelledLines(message);
  if (labelled !== undefined) {
    const { leftOut, replaces, ...lines } = labelled;
    const labelledTexts = [...lines.decisions, ...lines.rules, ...lines.settled];
    const isNew = (text: string) => !labelledTexts.some((line) => saysSame(line, text));
    const { options } = contentOf(message);
    return {
      // A list at a question that a line repeats is its list, too.
      ...lines,
      replaces,
      leftOut,
      options: options.length > 0 ? options : stated.options,
      decisions: [...choices.filter(isNew), ...lines.decisions],
      // An answer that a line repeats still ends its question.
      settled: [...lines.settled, ...answers.filter((answer) => !isNew(answer))],
      rules: [...rules.filter(isNew), ...lines.rules],
      requests: [],
      authored: [...Object.values(lines).flat(), ...choices, ...rules],
    };
  }
  const requests = part.changed ? user.requests.map((text) => `${BY_USER}${text}`) : [];
  return {
    decisions: [...choices, ...(part.worked ? stated.decisions : [])],
    rules,
    failed: [],
    settled: [],
    replaces: new Map(),
    leftOut: 0,
    // The cause of what the turn has changed is past.
    found: part.changed || !part.looked ? [] : stated.found,
    open: part.worked ? stated.open : [],
    questions: stated.questions,
    options: stated.options,
    requests,
    authored: [...choices, ...rules, ...requests],
  };
}

/**
 * True if a line of the agent says what the user's sentence or answer says: it has the same words in one piece, denies the
 * same, and adds little. In doubt both stay: no line takes the user's word away.
 */
function saysSame(line: string, text: string): boolean {
  const [head = '', reply = head.slice(BY_USER.length)] = text.split(ANSWERED);
  const replyWords = tellingWords(reply);
  const known = tellingWords(text);
  const words = tellingWords(line);
  const denials = (all: readonly string[]) => all.filter((word) => word === 'not').length;
  return (
    ` ${words.join(' ')} `.includes(` ${replyWords.join(' ')} `) &&
    denials(words) === denials(replyWords) &&
    words.filter((word) => known.includes(word)).length * 2 > words.length
  );
}

/** Stands in the trace of a turn that leaves nothing, and says why. */
export const NOT_KEPT = 'the turn is not kept: it changed, found, decided and asked nothing';

const NO_FILES: FilesChanged = { changed: [], deleted: [], renamed: [], reverted: [] };

/** The files that the turn changed, those that it made and removed again, and what it says of those that are gone. */
function filesOf(entries: readonly RecordedEntry[], git: FilesChanged = NO_FILES) {
  const changed = new Set<string>();
  const made = new Set<string>();
  const scratch = new Set<string>();
  const deleted = new Set<string>();
  const renamed = new Map(git.renamed.map(({ from, to }) => [from, to]));
  for (const entry of entries) {
    const words = (entry.command ?? '').split(/\s+/);
    const did = changeOf(entry.tool);
    const isRemoval = did === 'removed' || words.includes('rm');
    const files = changedFiles(entry);
    // Some tools name what they make in their command alone.
    if (did === 'created' || did === 'wrote')
      for (const file of files.length > 0 ? files : words.slice(1)) made.add(baseOf(file));
    for (const file of files) (isRemoval ? deleted : changed).add(file);
    if (!isRemoval) continue;
    for (const name of [...words, ...files].map(baseOf).filter((base) => made.has(base))) {
      scratch.add(name);
      for (const file of [...changed, ...deleted])
        if (baseOf(file) === name) for (const all of [changed, deleted]) all.delete(file);
    }
  }
  for (const file of git.changed) changed.add(file);
  for (const file of git.deleted) deleted.add(file);
  const isReverted = changed.size > 0 && [...changed].every((file) => git.reverted.includes(file));
  for (const [from, to] of renamed) {
    for (const all of [changed, deleted]) all.delete(from);
    changed.add(to);
  }
  for (const file of [...deleted, ...git.reverted]) changed.delete(file);
  const removed = [
    ...[...renamed].map(([from, to]) => `renamed ${from} to ${to}`),
    ...(deleted.size === 0 ? [] : [`deleted ${named([...deleted], MAX_SAID)}`]),
    ...(isReverted ? ['reverted'] : []),
  ].slice(0, MAX_SAID);
  return {
    files: [...changed].slice(0, MAX_FILES),
    deleted: [...deleted].slice(0, MAX_FILES),
    renamed: [...renamed].map(([from, to]) => ({ from, to })).slice(0, MAX_FILES),
    scratch: [...scratch],
    removed,
  };
}

/** A command that builds, tests or checks, by its first words: the program and what it runs. */
const CHECKS =
  /(?:^|[\s:/-])(?:tests?|pytest|unittest|jest|vitest|mocha|ava|tap|rspec|phpunit|ctest|tox|nox|build|compile|tsc|vue-tsc|eslint|lint|biome|oxlint|ruff|mypy|pyright|clippy|typecheck|type-check|checks?|vet|verify)(?=$|[\s:.-])|^(?:make|gradle|\.\/gradlew|mvn)\b/;
const FIRST_WORDS = 3;
const REDIRECTED = /\d?>>? ?(?:&\d|[^\s>]+)/g;

function testsOf(entries: readonly RecordedEntry[]): FinishedTurn['tests'] {
  const found = new Map<string, boolean>();
  for (const entry of entries) {
    const { command = '', status } = entry;
    const parts = ranOf(entry).filter((part) => CHECKS.test(part.split(/\s+/, FIRST_WORDS).join(' ')));
    const passed = status === 'SUCCESS';
    // The exit code of a pipe is that of its last command.
    if (passed && /[^|]\|[^|]/.test(command)) continue;
    for (const part of parts) {
      const name = clipText(oneLine(part.replace(REDIRECTED, '')), MAX_COMMAND);
      found.delete(name);
      found.set(name, passed);
    }
  }
  return [...found].map(([command, passed]) => ({ command, passed })).slice(-MAX_TESTS);
}

function ranOf({ command, tool, action }: RecordedEntry): string[] {
  if (action !== 'TOOL_EXECUTION' || command === undefined || !isOfShell(tool, command)) return [];
  return commandParts(command).filter((part) => effectOfPart(part) === 'run');
}

/** Returns the first sentence of a request that says something of its own; those `stated` have lines of their own. */
export function requestIn(request: string, stated: readonly string[] = []): string {
  const lines = request.split('\n').map((line) => line.trimEnd());
  // The line below a label is a title.
  const titled = lines.flatMap((line, at) => {
    const label = lines[at - 1] ?? '';
    return label.endsWith(':') && label.length <= MAX_LABEL ? ['', line, ''] : [line];
  });
  const sentences = paragraphsOf(titled.join('\n'))
    .flatMap(({ text }) => sentencesOf(text))
    .map(plainText)
    .filter((sentence) => !ROUND.test(sentence))
    .filter((sentence) => !stated.some((line) => isMostly(sentence, plainText(line))));
  const says = (sentence: string) => /\p{L}{3}/u.test(sentence) && /\S\s\S/.test(sentence);
  const introduces = (sentence: string) => sentence.endsWith(':') || /\bfollowing\b/i.test(sentence);
  const first = sentences.find((sentence) => says(sentence) && !introduces(sentence)) ?? sentences.find(says);
  return clipText(withoutEnd(first ?? (stated.length > 0 ? '' : plainText(request))), MAX_REQUEST);
}

function isMostly(sentence: string, part: string): boolean {
  return sentence.includes(part) && sentence.length - part.length <= MAX_LEAD_IN;
}

const OPEN_LABEL =
  /^(?:still )?(?:open(?: points?| questions?| issues?| items?)?|questions?(?: for you)?|to-?dos?|left(?: to do| open)?|remaining(?: work| issues?)?|not (?:done|yet done|covered|verified|tested)|follow-?ups?|known (?:issues?|limitations?|gaps?)|blocked(?: by)?)\b/i;
const LABELLED = /^(?:[*_]{0,3})([A-Za-z][A-Za-z -]{2,30}?)(?:[*_]{0,3}):(?:[*_]{0,3})\s*(.*)$/s;

/** A question, also one of Japanese or Chinese without its mark. */
const QUESTION = /[?？]$|(?:ですか|ますか|でしょうか|吗)[。.]?$/;
const EMPTY =
  /^(?:(?:all )?(?:done|set|finished|complete[d]?|good|great|perfect|ok(?:ay)?|sure|yes|no|certainly|absolutely)\b[^a-z]*|(?:i(?:['’]ve| have)|that['’]s|everything is|all (?:is|tests?)|the (?:task|change|work|issue)s? (?:is|are|has been|have been)) [^,;:]{0,30}(?:done|complete[d]?|finished|fixed|passing|passe?s?)(?: now)?[^a-z]*|(?:summary|changes|what (?:i|was) (?:did|done|changed)|result)s?[^a-z]*|(?:here(?:['’]s| is| are)|below) .*|(?:you(?:['’]re| are) (?:right|welcome)).*|(?:now,? |next,? |so )?(?:let me|let['’]s|(?:i|we)(?:['’]ll| will| can now| are going to)) .*)$/i;
/** A guess, or that something was looked at, says less than what comes after it. */
const SEEMS =
  /^(?:(?:it|this|that) (?:seems|appears|looks)|(?:i(?:['’]ve| have)? )?(?:looked|checked|reviewed|investigated|read|examined|searched|went through|committed))\b/i;
const INTENDS = /\b(?:let me|let['’]s|i(?:['’]ll| will) now)\b/i;
const PREAMBLE = /^(?:(?:done|great|perfect|ok(?:ay)?|sure|yes|all set|fixed|finished)\s*[.!,:;–—-]+\s+)+/i;

interface Stated extends Pick<FinishedTurn, 'decisions' | 'found' | 'open' | 'questions' | 'options'> {
  /** First sentence about what was done; undefined if the message does not say. */
  readonly done: string | undefined;
}

/**
 * Extracts from a last message what was done, decided, found and left open, by key words and headings.
 *
 * @param scratch names of files that are gone again: what is said of them is not what was done
 */
export function contentOf(message: string, scratch: readonly string[] = []): Stated {
  const found: Record<'decisions' | 'found' | 'open' | 'questions', string[]> = {
    decisions: [],
    found: [],
    open: [],
    questions: [],
  };
  let list: string[] = [];
  let options: string[] = [];
  let isList = false;
  let isAfterQuestion = false;
  let done: string | undefined;
  let seems: string | undefined;
  let isOpen = false;
  for (const { text, kind } of paragraphsOf(message)) {
    if (kind === 'row' || kind === 'quote') continue;
    const isItem = kind === 'item';
    const above = isList ? list : [];
    if (isItem && !isList) list = [];
    if (isItem) list.push(plainText(text));
    if (isItem && isAfterQuestion) options = list;
    isList = isItem;
    const [, label = '', rest = ''] = LABELLED.exec(text) ?? [];
    const isHeading = kind === 'heading' || /^\*\*[^*]+\*\*:?$/.test(text);
    const isLeft = OPEN_LABEL.test(isHeading ? plainText(text) : label);
    if (isLeft || isHeading || kind === 'text') isOpen = isLeft;
    if (isHeading || (label !== '' && rest === '' && kind === 'text')) {
      // "Moved the parser into its own file:" says more than the list below it.
      if (!isHeading && !isLeft) done ??= doneIn(label, LABEL_WORDS);
      continue;
    }
    isAfterQuestion = isAfterQuestion && isItem;
    for (const [at, sentence] of sentencesOf(isLeft ? rest : text)
      .map(plainText)
      .entries()) {
      if (isOffer(sentence)) continue;
      if (QUESTION.test(sentence)) {
        found.questions.push(sentence);
        isAfterQuestion = !isItem;
        options = isItem ? [] : above;
      } else if (isOpen ? at === 0 : isLeftOpen(sentence)) found.open.push(sentence);
      else if (isOpen) continue;
      else if (isOwnChoice(sentence) && !DESCRIBES.test(sentence)) found.decisions.push(sentence);
      else if (isFinding(sentence)) {
        found.found.push(sentence);
        seems ??= doneIn(sentence);
      } else if (!scratch.some((file) => sentence.includes(file))) {
        if (SEEMS.test(sentence)) seems ??= doneIn(sentence);
        else done ??= doneIn(sentence);
      }
    }
  }
  const kept = (texts: readonly string[]) =>
    distinctTexts(texts.map((text) => clipText(text, MAX_SENTENCE))).slice(0, MAX_SAID);
  return {
    done: done ?? seems,
    decisions: kept(found.decisions.map(decided)),
    open: kept(found.open),
    found: kept(found.found),
    options,
    // The agent waits for an answer to its last questions.
    questions: kept(found.questions.reverse()).toReversed(),
  };
}

function doneIn(sentence: string, words = 2): string | undefined {
  const whole = sentence.replace(PREAMBLE, '');
  const text = whole.endsWith(':') ? whole.slice(0, -1) : whole;
  const isShort = text.split(/\s+/).length < words || /\bfollowing\b/i.test(text);
  return isShort || EMPTY.test(text) || INTENDS.test(text) ? undefined : clipText(text, MAX_SENTENCE);
}

function plainText(text: string): string {
  return oneLine(
    text
      .replace(/\[([^\][]*)\]\([^()\s]*\)/g, '$1')
      .replace(/(\*\*|__)(?=\S)([^*]+?)\1/g, '$2')
      .replace(/`+/g, '')
      .replace(/^[#>*\-\s]+/, ''),
  );
}
