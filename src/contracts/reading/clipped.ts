import { lengthOf, oneLine, quoted } from '../../shared/text.js';
import { KEPT } from '../kept.js';
import type { Role } from '../kinds.js';
import { Repairs } from './repairs.js';
import { type Json, type ObjectShape, resultShape } from './shape.js';

const { text: MAX_TEXT, list: MAX_LIST } = KEPT.outcome;

/**
 * Notes the texts and lists that the event of a valid result will cut. Returns `repairs` unchanged if there are none.
 */
export function withClipped(result: object, role: Role, repairs: Repairs | undefined): Repairs | undefined {
  let noted = repairs;
  const cut = (field: string, kept: number, all: number, what: string): void => {
    if (all <= kept) return;
    noted ??= new Repairs();
    noted.note('clipped', field, `${kept} of ${all} ${what} kept`);
  };
  const text = (value: unknown, field: string, most: number, shown: (text: string) => string): void => {
    if (typeof value !== 'string' || value.length <= most) return;
    cut(field, most, lengthOf(shown(value)), 'characters');
  };
  const walk = (json: Json, { items }: ObjectShape, path: string): void => {
    for (const [key, value] of Object.entries(json)) {
      text(value, `${path}${key}`, MAX_TEXT, oneLine);
      // Each fact is an event's own line, with limits of its own.
      if (!Array.isArray(value) || key === 'facts') continue;
      cut(`${path}${key}`, MAX_LIST, value.length, 'items');
      const shape = items.get(key);
      for (const [at, item] of value.slice(0, MAX_LIST).entries()) {
        if (shape === undefined) text(item, `${path}${key}.${at}`, MAX_TEXT, oneLine);
        else walk(item, shape, `${path}${key}.${at}.`);
      }
    }
  };
  walk(result as Json, resultShape(role), '');
  const { facts = [] } = result as { readonly facts?: readonly Json[] };
  for (const [at, fact] of facts.entries()) {
    for (const part of ['subject', 'relation', 'object'] as const)
      text(fact[part], `facts.${at}.${part}`, KEPT.fact[part], quoted);
  }
  return noted;
}
