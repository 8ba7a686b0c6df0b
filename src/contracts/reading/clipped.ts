import { lengthOf, oneLine, quoted } from '../../shared/text.js';
import { KEPT } from '../kept.js';
import type { Role } from '../kinds.js';
import { Repairs } from './repairs.js';
import { type Json, type ObjectShape, resultShape } from './shape.js';

const { text: MAX_TEXT, list: MAX_LIST } = KEPT.outcome;
const FACTS = 'facts';

/**
 * Notes the texts and lists that the event of a valid result will cut. Returns `repairs` unchanged if there are none.
 */
export function withClipped(result: object, role: Role, repairs: Repairs | undefined): Repairs | undefined {
  return clipped(result as Json, resultShape(role), '', repairs);
}

function clipped(
  json: Json,
  { items }: ObjectShape,
  path: string,
  before: Repairs | undefined,
): Repairs | undefined {
  let repairs = before;
  for (const key of Object.keys(json)) {
    const value = json[key];
    if (typeof value === 'string') {
      if (value.length > MAX_TEXT) repairs = clippedText(value, `${path}${key}`, repairs);
    } else if (Array.isArray(value) && key === FACTS) {
      repairs = clippedFacts(value, repairs);
    } else if (Array.isArray(value)) {
      const shape = items.get(key);
      const kept = Math.min(value.length, MAX_LIST);
      if (value.length > kept) {
        repairs ??= new Repairs();
        repairs.note('clipped', `${path}${key}`, `${kept} of ${value.length} items kept`);
      }
      for (let at = 0; at < kept; at += 1) {
        const item: unknown = value[at];
        if (typeof item === 'string') {
          if (item.length > MAX_TEXT) repairs = clippedText(item, `${path}${key}.${at}`, repairs);
        } else if (shape !== undefined) {
          repairs = clipped(item as Json, shape, `${path}${key}.${at}.`, repairs);
        }
      }
    }
  }
  return repairs;
}

function clippedFacts(facts: readonly Json[], before: Repairs | undefined): Repairs | undefined {
  let repairs = before;
  for (const [at, fact] of facts.entries()) {
    for (const part of ['subject', 'relation', 'object'] as const) {
      const [text, most] = [fact[part], KEPT.fact[part]];
      if (typeof text !== 'string' || text.length <= most) continue;
      const length = lengthOf(quoted(text));
      if (length <= most) continue;
      repairs ??= new Repairs();
      repairs.note('clipped', `${FACTS}.${at}.${part}`, `${most} of ${length} characters kept`);
    }
  }
  return repairs;
}

function clippedText(text: string, field: string, before: Repairs | undefined): Repairs | undefined {
  const length = lengthOf(oneLine(text));
  if (length <= MAX_TEXT) return before;
  const repairs = before ?? new Repairs();
  repairs.note('clipped', field, `${MAX_TEXT} of ${length} characters kept`);
  return repairs;
}
