import { dayOf } from '../../shared/text.js';
import type { SessionFact } from '../facts/fact-types.js';
import { stateFromJson, stateJson, stateToJson } from './session-snapshot.js';
import { factsOf, type SessionState } from './session-state.js';

/** Overwrites a text wherever a value repeats it. Returns a copy. */
export type Overwrite = <Value>(value: Value) => Value;

/** A shorter text, or a single word, could be part of any other: only a field that says nothing else is overwritten. */
const LEAST_PHRASE = 8;
const SINGLE_WORD = /^[\w-]+$/;
const SAYS: ReadonlySet<string> = new Set(['object', 'text', 'content', 'answer', 'summary', 'message']);

/**
 * Returns what overwrites the text of a statement with a mark. The text of a fact is one line, quoted and perhaps clipped, so the
 * original may have other white space, Markdown and brackets, and go on where the fact ends.
 */
export function overwriting(text: string, mark: string): Overwrite {
  const isClipped = text.endsWith('...');
  const isAlone = text.length < LEAST_PHRASE || SINGLE_WORD.test(text);
  const words = text.slice(0, isClipped ? -3 : undefined).split(/\s+/);
  const patterns = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, inPattern));
  const pattern = new RegExp(`[*_\`]*${patterns.join('[\\s*_`]*')}${isClipped ? '[^]*' : '[*_`]*'}`, 'gu');
  const inText = (value: string, key: string) => {
    if (!isAlone) return value.replace(pattern, () => mark);
    return SAYS.has(key) && value === text ? mark : value;
  };
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return inText(value, key);
    if (Array.isArray(value)) return value.map((element) => walk(element, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, walk(field, name)]));
  };
  return <Value>(value: Value) => walk(value, '') as Value;
}

/** A parenthesis may have been a bracket before it was quoted. */
function inPattern(character: string): string {
  return character === '(' ? '[([]' : character === ')' ? '[)\\]]' : `\\${character}`;
}

export function markOf(by: string, at: string): string {
  return `erased by ${by}, ${dayOf(at)}`;
}

export function erasedState(state: SessionState, fact: SessionFact, by: string, at: string): SessionState {
  const { session, sequence, lastEvent, lastCommand, checkpoint } = state;
  const overwrite = overwriting(fact.object, markOf(by, at));
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
