import { clipText, oneLine } from '../../shared/text.js';
import { ANSWERED } from '../../shared/wire-words.js';
import { statedByUser } from './stated-lines.js';
import {
  ALL_OR_NONE,
  ASKS_WHICH,
  CHOICE_ENDS,
  CHOOSES,
  HOW_MUCH,
  LEAD_IN,
  NEW_WORK,
  POSITIONS,
  STATES,
  YES_OR_NO,
} from './wordings.js';

/** Questions that an agent waits for, and the list that stands directly at the last one. */
export interface OpenQuestions {
  readonly questions: readonly string[];
  readonly options: readonly string[];
}

const MAX_ANSWER = 200;
/** Characters of a question that stand before its answer: a line of a prompt must hold both. */
const MAX_QUESTION = 80;
const MAX_WORDS = 8;
/** A longer question is not read for its options. */
const MAX_READ = 400;
const CODE_OF_A = 'a'.charCodeAt(0);

/**
 * Returns the answer that the user's next prompt gives to one of the questions; undefined unless it says yes or no, names an
 * option, its place or a number, or begins with the matter of a question with "which". What fits two of them answers none.
 */
export function answerTo({ questions, options }: OpenQuestions, request: string): string | undefined {
  const reply = oneLine(request);
  if (reply === '' || reply.length > MAX_ANSWER || /[?？]$/.test(reply)) return undefined;
  const candidates = questions.map((question, at) => {
    const inline = optionsIn(question);
    const isListed = at === questions.length - 1 && options.length > 1;
    const isWhich = ASKS_WHICH.test(question);
    return { question, inline, isListed, isWhich, options: isListed ? options : inline };
  });
  type Question = (typeof candidates)[number];
  const only = (fits: (one: Question) => boolean) => {
    const found = candidates.filter(fits);
    return found.length === 1 ? found[0] : undefined;
  };
  const answerText = (one: Question | undefined, option = '') =>
    one &&
    `${ofAgent(one.question, MAX_QUESTION)}${ANSWERED}${reply}"${option && `: ${ofAgent(option, MAX_ANSWER)}`}`;
  const atPlace = (place: number, fits = (_: Question) => true) => {
    const one = only((other) => other.options.at(place) !== undefined && fits(other));
    return answerText(one, one?.options.at(place));
  };
  const { place, digits } = placeIn(reply);
  if (digits !== undefined) {
    const isPick = (one: Question) => one.isListed && one.isWhich && !HOW_MUCH.test(one.question);
    return (
      answerText(only((one) => !one.isListed && wordsOf(one.question).includes(digits))) ??
      (place === undefined ? undefined : atPlace(place, isPick)) ??
      answerText(only((one) => one.isWhich && one.inline.length === 0))
    );
  }
  if (place !== undefined) return atPlace(place);
  if (ALL_OR_NONE.test(reply)) return answerText(only((one) => one.options.length > 0));
  if (YES_OR_NO.test(reply)) return answerText(only((one) => !one.isWhich && one.inline.length === 0));
  const text = reply.replace(CHOOSES, '');
  const isRule = statedByUser(request).rules.some((rule) => reply.replace(LEAD_IN, '').startsWith(rule));
  if (isRule || NEW_WORK.test(text)) return undefined;
  const isNamed = (option: string) => text !== restOf(text, option) && CHOICE_ENDS.test(restOf(text, option));
  const isMatter = ({ isWhich, question, options }: Question) => {
    const rest = restOf(text, question);
    return isWhich && options.length === 0 && rest !== text && rest !== '' && !STATES.test(rest);
  };
  const isShort = reply.split(' ').length <= MAX_WORDS;
  return answerText(
    only((one) => one.options.filter(isNamed).length === 1) ?? (isShort ? only(isMatter) : undefined),
  );
}

/** Returns the place that a reply names, -1 for the last one, and its `digits` if it is only a number. */
function placeIn(reply: string): { place?: number | undefined; digits?: string | undefined } {
  const [, mark, digits, letter] = /^(option |nr\.? |no\.? |#)?(?:(\d+)|([a-d]))[).]?$/i.exec(reply) ?? [];
  const number = letter === undefined ? Number(digits) : letter.toLowerCase().charCodeAt(0) - CODE_OF_A + 1;
  if (number > 0) return { place: number - 1, ...(mark === undefined && { digits }) };
  if (digits !== undefined) return { digits };
  const place = POSITIONS.findIndex((position) => position.test(reply));
  return place < 0 ? {} : { place: place === POSITIONS.length - 1 ? -1 : place };
}

/** Returns the option of a question that a reply names, by its words or its place; undefined if it names none. */
export function optionNamed(question: string, options: readonly string[], reply: string): string | undefined {
  const text = oneLine(reply);
  const { place, digits } = placeIn(text);
  // "How many?" is answered by a number, and so is a choice between 1 and 4.
  const isAmount = HOW_MUCH.test(question) || options.some((option) => Number(option) <= options.length);
  const atPlace = place === undefined || (digits && isAmount) ? undefined : options.at(place);
  return options.find((option) => option.toLowerCase() === text.toLowerCase()) ?? atPlace;
}

/** Returns a text without the words of another one that it begins with. */
function restOf(text: string, other: string): string {
  const known = wordsOf(other);
  const [word] = text.match(WORDS) ?? [];
  return word !== undefined && text.startsWith(word) && known.includes(word.toLowerCase())
    ? restOf(text.slice(word.length).trimStart(), other)
    : text;
}

/** Words of the agent within a statement of the user: they neither begin a sentence of the user nor quote one. */
export function ofAgent(text: string, most: number): string {
  return clipText(text.replaceAll(/\bthe user:/gi, 'the user,').replaceAll('"', "'"), most);
}

const WORDS = /[A-Za-z\d_](?:[\w.+#/-]*[\w+#])?|[\p{L}\p{N}]+/gu;

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(WORDS) ?? [];
}

const OR = / (?:or|oder|ou) | ?(?:还是|それとも) ?|(?<=¿.*) o /iu;
const EITHER = /(?<![\w.+#-])([\w.+#-]+) ?(?:と|か、?) ?([\w.+#-]+?) ?(?:か|、|の)*(?:どちら|どっち|[?？])/u;
/** What follows the last option in a question. */
const AFTER =
  /(?<=\S) (?:for|when|as|here|für|zum|para|pour|nehmen|verwenden|benutzen|nutzen|wählen|haben)(?: .*)?$|(?:にしますか|ですか|呢)$/iu;

/** Returns what a question lets choose: "Which port, 3000 or 4000?", "Do you want npm or pnpm?". */
export function optionsIn(question: string): string[] {
  if (question.length > MAX_READ) return [];
  const either = EITHER.exec(question);
  if (either !== null) return either.slice(1);
  const [start = '', end, ...more] = question.replace(/[?？]$/, '').split(OR);
  if (end === undefined || more.length > 0 || !/[?？]$/.test(question)) return [];
  const last = end.replace(AFTER, '').trim();
  const parts = (
    start
      .replace(/[,，]$/, '')
      .split(/[:：] ?/)
      .at(-1) ?? ''
  ).split(/[,，]\s*/);
  const like = last.split(' ');
  // "Should it live in Redis or in a cookie?": the first option begins as the last one, or is as long.
  const cut = (part: string) => {
    const words = part.trim().split(' ');
    const at = words.findLastIndex((word) => word.toLowerCase() === like[0]?.toLowerCase());
    return words.slice(at < 0 ? -like.length : at).join(' ');
  };
  const [first = '', ...others] = parts.slice(parts.findLastIndex((part) => ASKS_WHICH.test(part)) + 1);
  const isList = others.every((part) => part.split(' ').length <= like.length);
  return isList ? [cut(first), ...others, last] : [cut(others.at(-1) ?? first), last];
}
