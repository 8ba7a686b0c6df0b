import { BARE_EMOJI, type Mark, markOfEmoji, openingWord, wholeWord } from './marks.js';

/** A status beside a text, at its start or end. */
export interface Stated {
  /** Undefined for an unknown status. */
  readonly mark?: Mark;
  /** Original spelling, for a report. */
  readonly shown: string;
  /** In code units, including the blanks between it and the text. */
  readonly length: number;
  /** Certainly a status; an emoji such as 🔄 may be decoration. */
  readonly strong: boolean;
}

const PICTURE = /\p{Extended_Pictographic}/u;
/** Words that may also begin an ordinary remark: `(new)`, `(open source)`, `(backlog)`. */
const REMARK =
  /^(?:(?:new|open|ready|active|working|missing|remaining|failed|cut|current|review|partial|closed|-)\b|(?!(?:done|complete|finished|in[ -]progress|wip|blocked|cancel|todo|not started))[a-z])/;
const REMARK_WORD =
  /^(?:new|open|ready|active|working|missing|remaining|failed|cut|current|review|partial|closed)$/i;
const AFTER_WORD = /^\s*(?:$|[:：,;.(–—-]|\d|✅|on\b|by\b|for\b|at\b|in\b|as\b)/u;
const SHOUTED = /\s(?:[-–—]|--)\s+([A-Z][A-Z' -]{2,20})$/;
const OPENS = /^(?:(\p{Extended_Pictographic})\uFE0F?\s*)?([A-Z][A-Z ]{2,14})\s*(?::|\s[-–—])\s+/u;
const CODE_WORD = /^[A-Z]{4,}(?:[ _-][A-Z]{2,})*$/;

/** Reads the end of a narrowed, trimmed text: `[IN PROGRESS]`, `(COMPLETED)`, `✅ COMPLETE`, `— DONE`, ✅. */
export function statedAtEnd(text: string): Stated | undefined {
  const last = text.charCodeAt(text.length - 1);
  // A fast path: most texts end with a small letter.
  if ((last >= 0x61 && last <= 0x7a) || last === 0x2e || last === 0x60) return undefined;
  const end = text.endsWith('**') ? text.length - 2 : text.length;
  const whole = text.slice(0, end);
  const found = inBrackets(whole) ?? afterPicture(whole) ?? shouted(whole);
  if (found === undefined) return undefined;
  return { ...found, length: found.length + text.length - end };
}

/** Reads the start of a narrowed text: `DONE: …`, `⚠️ BLOCKED: …`. */
export function statedAtStart(text: string): Stated | undefined {
  const first = text.charCodeAt(0);
  // A capital letter or a picture.
  if (first < 0x41 || (first > 0x5a && first < 0xa9)) return undefined;
  // Capital letters only.
  if (first < 0x80 && text.charCodeAt(1) > 0x5a) return undefined;
  const found = OPENS.exec(text.slice(0, 40));
  const mark = found === null ? undefined : wholeWord(found[2] ?? '');
  if (found === null || mark === undefined) return undefined;
  return { mark, shown: found[0].trim(), length: found[0].length, strong: true };
}

function inBrackets(text: string): Stated | undefined {
  const close = text.charAt(text.length - 1);
  if (close !== ']' && close !== ')') return undefined;
  const open = text.lastIndexOf(close === ']' ? '[' : '(');
  if (open < 1 || text.length - open > 44) return undefined;
  const inside = text.slice(open + 1, -1).trim();
  const shown = text.slice(open);
  const length = text.length - withoutPicture(text.slice(0, open)).length;
  const emoji = markOfEmoji(inside);
  const phrase = inside.replace(
    /^\p{Extended_Pictographic}\uFE0F?\s*|\s*\p{Extended_Pictographic}\uFE0F?$/gu,
    '',
  );
  const mark = phrase === '' ? emoji : phraseMark(phrase);
  if (
    mark !== undefined &&
    (close === ']' || phrase === '' || !(REMARK.test(phrase) || REMARK_WORD.test(phrase)))
  )
    return { mark, shown, length, strong: true };
  // A label has at most three letters.
  if (close === ']' && CODE_WORD.test(inside)) return { shown, length, strong: true };
  return undefined;
}

function phraseMark(phrase: string): Mark | undefined {
  const whole = wholeWord(phrase);
  if (whole !== undefined) return phrase.length > 1 ? whole : undefined;
  const word = /^[\p{L}' ]+?(?=\s*(?:$|[^\p{L}' ]))/u.exec(phrase)?.[0] ?? '';
  const opening = wholeWord(word) ?? wholeWord(word.split(/\s+(?=(?:on|by|for|at|in|as)\b)/)[0] ?? '');
  return opening !== undefined && AFTER_WORD.test(phrase.slice(word.length)) ? opening : undefined;
}

/** Reads `✅`, `✅ COMPLETE`, `⚠️ BLOCKED` at the end. */
function afterPicture(text: string): Stated | undefined {
  const tail = text.slice(-32);
  let at = -1;
  for (let index = tail.length - 1; index >= 0; index -= 1) {
    const unit = tail.charCodeAt(index);
    if (unit < 0x2000 || (unit >= 0xdc00 && unit <= 0xdfff) || !PICTURE.test(tail.slice(index, index + 2)))
      continue;
    at = index;
    break;
  }
  if (at === -1) return undefined;
  const shown = tail.slice(at);
  const before = text.slice(0, text.length - shown.length).trimEnd();
  const picture = String.fromCodePoint(shown.codePointAt(0) ?? 0);
  const words = shown.slice(picture.length).replace('\uFE0F', '').replace(/\*\*/g, '').trim();
  const mark = words === '' ? markOfEmoji(picture) : (wholeWord(words) ?? shoutedWord(words));
  if (mark === undefined) return undefined;
  return {
    mark,
    shown,
    length: text.length - before.length,
    strong: words !== '' || !BARE_EMOJI.has(picture),
  };
}

function shoutedWord(words: string): Mark | undefined {
  return /^[A-Z]{2}/.test(words) ? openingWord(words) : undefined;
}

function shouted(text: string): Stated | undefined {
  const found = SHOUTED.exec(text.slice(-30));
  const mark = found === null ? undefined : wholeWord(found[1] ?? '');
  if (found === null || mark === undefined) return undefined;
  return { mark, shown: found[0].trim(), length: found[0].length, strong: true };
}

function withoutPicture(text: string): string {
  return text
    .trimEnd()
    .replace(/\p{Extended_Pictographic}\uFE0F?$/u, '')
    .trimEnd();
}

/** Supported plan formats with an example line each, for the error about a file without tasks. */
export const DIALECTS: readonly (readonly [name: string, example: string])[] = [
  ['checkbox', '- [ ] Write the parser'],
  ['Kiro, OpenSpec', '- [ ] 1.1 Write the parser'],
  ['spec-kit', '- [ ] T001 [P] [US1] Write the parser'],
  ['BMAD', '- [ ] **Task 1: Write the parser** (AC: #1)'],
  ['GSD', '- [ ] 01-01-PLAN.md — Write the parser'],
  ['heading', '### Phase 1: Parser [IN PROGRESS]'],
  ['numbered line', '1. **✅ Write the parser**'],
  ['table', '| Phase | Status | over | Phase 1 | done |'],
  ['list of a plan', '1. Write the parser (below "## Plan")'],
  ['section', '- Write the parser (below "## 🚧 In progress")'],
  ['Cursor', 'todos: in a front matter, with id, content and status'],
  ['task-master', '{"tasks": [{"id": 1, "title": "Write the parser", "status": "pending"}]}'],
  ['task_001.txt', '# Task ID: 1'],
];

export function dialectExamples(): string {
  return DIALECTS.map(([name, example]) => `${name}: ${example}`).join('; ');
}
