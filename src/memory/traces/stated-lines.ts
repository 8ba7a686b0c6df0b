import { clipText, distinctTexts } from '../../shared/text.js';
import { type Paragraph, paragraphsOf, sentencesOf } from './sentences.js';
import {
  CONDITION,
  CORRECTION,
  GUESS,
  LEAD_IN,
  NOT_NOW,
  OF_EARLIER,
  OPENING,
  PASSING,
  PROVISO,
  REFUSAL,
  RULES_FOLLOW,
  WORDINGS,
} from './wordings.js';

/**
 * Reads what holds for later agents from sentences that say it almost for certain: the user's own rules and choices, and
 * an agent's own choice in the past tense. Conditions, questions, quotations and descriptions of the code are neither.
 */
export interface UserStatements {
  readonly rules: readonly string[];
  readonly choices: readonly string[];
  /** Other paragraphs, without questions and conditions. */
  readonly requests: readonly string[];
}

const MAX_SENTENCES = 40;
/** Characters of a sentence that are read. */
const MAX_SENTENCE = 400;
const MAX_STATED = 5;
const MAX_TEXT = 300;
const QUOTED = /^\s*(?:>|["“„«「『])/;
const ASKS = /[?？]\s*$/;
/** Where a sentence holds more than one clause, such as "fix the bug, and never use moment again". */
const CLAUSE =
  /[,;，；]\s+(?:and |und |y |et |e )?|\s[–—]\s+|\s(?:and|but)\s+(?=(?:never|always|from now on|remember)\b)/i;

/** A header or a marker of our own prompts, and an item of them, which may be filled into a template of the user. */
const COMPILED = [
  /\[(?:Session Context|Compacted History|Recent Steps|Memory of )|DISPATCH_RESULT|^Task prompt:|^# Throughline Session/im,
  /^(?:Relevant|Recent) learnings \(\d/im,
  /^ {0,2}- \[(?:P\d\] \[)?(?:NOT|TAS|MSG)-\d/im,
  /^- #\d{1,9}(?: \(.{1,80}\))?: /m,
];

const wordings = Object.values(WORDINGS);

/** Returns what a request of the user rules or chooses for later agents. A prompt that was compiled for an agent says nothing. */
export function statedByUser(request: string): UserStatements {
  if (COMPILED.some((item) => item.test(request))) return { rules: [], choices: [], requests: [] };
  const rules: string[] = [];
  const choices: string[] = [];
  for (const { text: sentence, isListed } of sentencesIn(request.replace(REFUSAL, '$1, '))) {
    // A condition may hold for one part only, so the parts are not read alone.
    const parts = CONDITION.test(sentence) ? [] : [sentence, ...sentence.split(CLAUSE)];
    const isRule = (part: string) =>
      isListed || (wordings.some(({ rule }) => rule.test(part)) && !NOT_NOW.test(sentence));
    const isChoice = (part: string) =>
      wordings.some(({ choice }) => choice.test(part)) && isFirm(sentence) && !PASSING.test(part);
    const texts = parts.map((part) => part.replace(LEAD_IN, ''));
    // "Usa dayjs, no moment" is one choice.
    const rule = texts.find(
      (part, at) => isRule(part) && (at === 0 || !/^no /i.test(part) || !isChoice(sentence)),
    );
    const isCorrection =
      CORRECTION.test(sentence) && isFirm(sentence) && !texts.some((part) => PASSING.test(part));
    const correction = isCorrection ? sentence : undefined;
    const choice = rule === undefined ? (correction ?? texts.find(isChoice)) : undefined;
    if (rule !== undefined) rules.push(rule);
    if (choice !== undefined) choices.push(choice);
  }
  const states = (text: string) => [...rules, ...choices].some((stated) => text.includes(stated));
  const requests = paragraphsOf(request)
    .filter(({ kind, text }) => kind === 'text' && text.length <= MAX_TEXT && !states(text))
    .map(({ text }) => text.replace(OPENING, ''))
    .filter((text) => !ASKS.test(text) && !QUOTED.test(text) && !CONDITION.test(text) && isFirm(text));
  return { rules: kept(rules), choices: kept(choices), requests: kept(requests) };
}

export function isOwnChoice(sentence: string): boolean {
  const text = sentence.slice(0, MAX_SENTENCE).replace(LEAD_IN, '');
  if (!wordings.some(({ decided }) => decided.test(text)) || ASKS.test(text) || CONDITION.test(text))
    return false;
  return isFirm(text) && !wordings.some(({ works }) => works.test(text));
}

/** False for a sentence that supposes, guesses, is past, or ends a quotation that began before it. */
function isFirm(sentence: string): boolean {
  const marks = sentence.match(/["“”«»「」『』]/g) ?? [];
  return (
    marks.length % 2 === 0 && !PROVISO.test(sentence) && !NOT_NOW.test(sentence) && !GUESS.test(sentence)
  );
}

export function isFinding(sentence: string): boolean {
  const text = sentence.slice(0, MAX_SENTENCE);
  return (
    !ASKS.test(text) &&
    !CONDITION.test(text) &&
    !GUESS.test(text) &&
    wordings.some(({ found }) => found.test(text))
  );
}

export function isLeftOpen(sentence: string): boolean {
  return wordings.some(({ open }) => open.test(sentence));
}

export function isOffer(sentence: string): boolean {
  return wordings.some(({ offers }) => offers.test(sentence));
}

/** The sentences of a request; a list below "Rules:" states each of its items. */
function sentencesIn(text: string): { readonly text: string; readonly isListed: boolean }[] {
  let isList = false;
  let isEarlier = false;
  return paragraphsOf(text)
    .filter(({ text: title, kind }) => {
      if (kind !== 'item') isEarlier = (kind === 'heading' || /[:：]$/.test(title)) && OF_EARLIER.test(title);
      return kind !== 'row' && kind !== 'quote' && !isEarlier;
    })
    .flatMap((paragraph: Paragraph) => {
      const isListed = paragraph.kind === 'item' && isList;
      const title = paragraph.text.replace(LEAD_IN, '');
      const states = /[:：]$/.test(title) && wordings.some(({ rule }) => rule.test(title));
      isList = isListed || states || RULES_FOLLOW.test(title);
      return sentencesOf(paragraph.text).map((text) => ({ text: text.slice(0, MAX_SENTENCE), isListed }));
    })
    .filter((sentence) => !QUOTED.test(sentence.text) && !ASKS.test(sentence.text))
    .slice(0, MAX_SENTENCES);
}

function kept(texts: readonly string[]): string[] {
  return [...distinctTexts(texts.map((text) => clipText(text.trim(), MAX_TEXT)))].slice(0, MAX_STATED);
}
