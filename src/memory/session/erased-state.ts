import { isDeepStrictEqual } from 'node:util';
import type { Retraction } from '../../contracts/fact-requests.js';
import { dayOf, jsonOf } from '../../shared/text.js';
import { BY_USER } from '../../shared/wire-words.js';
import type { SessionFact } from '../facts/fact-types.js';
import { stateFromJson, stateJson, stateToJson } from './session-snapshot.js';
import { factsOf, type SessionState } from './session-state.js';

/** Overwrites a text wherever a value repeats it. Returns a copy. */
export type Overwrite = <Value>(value: Value) => Value;

/** A shorter text, or a single word, could be part of any other: only a field that says nothing else is overwritten. */
const LEAST_PHRASE = 8;
/** Characters of a beginning that is overwritten where it was clipped. */
const LEAST_CLIPPED = 20;
const SINGLE_WORD = /^[\w-]+$/;
const SAYS: ReadonlySet<string> = new Set([
  ...['object', 'text', 'content', 'answer', 'summary', 'message', 'reasoning'],
]);

/**
 * Returns what overwrites the text of a statement with a mark. The text of a fact is one line, quoted and perhaps clipped, so the
 * original may have other white space, Markdown and brackets, and go on where the fact ends. A sentence of the user stands without
 * its speaker in the request, and an answer is the reply alone there.
 *
 * @param kept texts that stay as they are
 */
export function overwriting(text: string, mark: string, kept: readonly string[] = []): Overwrite {
  const [question = '', words] = text.split(BY_USER);
  const reply = words?.slice(1, words.lastIndexOf('"'));
  const sentence = question === '' ? words?.split(' (agent: ')[0] : reply;
  const parts = sentence ? [inText(text, `${BY_USER}${mark}`), inText(sentence, mark)] : [inText(text, mark)];
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string')
      return kept.includes(value) ? value : parts.reduce((part, change) => change(part, key), value);
    if (Array.isArray(value)) return value.map((element) => walk(element, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, walk(field, name)]));
  };
  return <Value>(value: Value) => walk(value, '') as Value;
}

function inText(text: string, mark: string): (value: string, key: string) => string {
  const isClipped = text.endsWith('...');
  const isAlone = text.length < LEAST_PHRASE || SINGLE_WORD.test(text);
  const words = text.slice(0, isClipped ? -3 : undefined).split(/\s+/);
  const patterns = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, inPattern));
  const pattern = new RegExp(`[*_\`]*${patterns.join('[\\s*_`]*')}${isClipped ? '[^]*' : '[*_`]*'}`, 'giu');
  return (value, key) => {
    if (isAlone) return SAYS.has(key) && value === text ? mark : value;
    const end = value.endsWith('...') ? value.length - 3 : 0;
    for (let at = Math.max(0, end - text.length); at <= end - LEAST_CLIPPED; at += 1)
      if (text.startsWith(value.slice(at, end))) return `${value.slice(0, at)}${mark}`;
    return value.replace(pattern, () => mark);
  };
}

/** Returns what finds the text of a statement in a file: as it is, or in lines of JSON. */
export function holding(text: string): (file: string) => boolean {
  const overwrite = overwriting(text, '');
  return (file) => {
    const lines = file.split('\n').map((line) => jsonOf(line) ?? line);
    // The call of a hook is JSON within JSON.
    const unquoted = file.replaceAll(/\\{1,7}"/g, '"');
    return file.includes(text) || !isDeepStrictEqual(overwrite([lines, unquoted]), [lines, unquoted]);
  };
}

/** A parenthesis may have been a bracket before it was quoted. */
function inPattern(character: string): string {
  return character === '(' ? '[([]' : character === ')' ? '[)\\]]' : `\\${character}`;
}

export function markOf(by: string, at: string): string {
  return `erased by ${by}, ${dayOf(at)}`;
}

export function erasedState(
  state: SessionState,
  fact: SessionFact,
  overwrite: Overwrite,
  { by, at }: Pick<Retraction, 'by' | 'at'>,
): SessionState {
  const { session, sequence, lastEvent, lastCommand, checkpoint } = state;
  const saying = factsOf(state)
    .all()
    .filter(({ object }) => overwrite({ object }).object !== object);
  const json = stateJson.parse(JSON.parse(JSON.stringify(overwrite(stateToJson(state)))));
  const erased = stateFromJson(session, { sequence, lastEvent, lastCommand, checkpoint }, json);
  const left =
    factsOf(erased)
      .all()
      .find(({ ref }) => ref === fact.ref) ?? fact;
  erased.dispatches.change(({ facts, past }) => {
    past.forgetWords(new Set(saying.map(({ sourceSequence }) => sourceSequence)));
    facts.retract(left, { by, at, erased: true });
  });
  return erased;
}
