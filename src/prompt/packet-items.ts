import type { Role } from '../contracts/kinds.js';
import { isObject } from '../shared/is-object.js';
import { lengthOf } from '../shared/text.js';
import { type DeltaPacket, type PacketField, worthOf } from './delta-packet.js';
import { beginnings, type Item, type ShownItem, type Stretch } from './prompt-items.js';

/**
 * The delta packet as items: one per list entry, and one per other field. Required fixes and blockers are essential;
 * file and suggested fix of a required fix are not.
 */
interface PacketItems {
  readonly required_fixes: readonly Item[];
  readonly blockers: readonly Item[];
  /** By the same index: the required fix with file and suggestion. */
  readonly places: readonly Item[];
  readonly ledger: readonly Item[];
  /** Fields of the ledger items, in the order of the packet. */
  readonly entries: readonly Entry[];
  readonly whole: DeltaPacket;
}

interface Entry {
  readonly field: PacketField;
  /** True for an entry of a list. */
  readonly listed: boolean;
}

/** Characters from one form to the next. */
const STEP = 60;

type PacketSection = 'required_fixes' | 'blockers' | 'places' | 'ledger';

/** @param bare the required fixes alone, without files and suggestions */
export function packetItems(packet: DeltaPacket, bare: DeltaPacket): PacketItems {
  const { required_fixes: places = [], blockers = [], ...others } = packet;
  const given = Object.entries(others).flatMap(([name, value]) => {
    const field = name as PacketField;
    const list: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
    return (list ?? [value]).map((each) => ({ field, listed: list !== undefined, each }));
  });
  const { required_fixes: fixes = [] } = bare;
  return {
    required_fixes: fixes.map(itemOf),
    blockers: blockers.map(itemOf),
    places: places.map((text, index) => {
      const least = lengthOf(fixes[index] ?? '') + STEP;
      return { forms: beginnings(text, least, STEP).map((each) => JSON.stringify(each)) };
    }),
    ledger: given.map(({ each }) => itemOf(each)),
    entries: given.map(({ field, listed }) => ({ field, listed })),
    whole: packet,
  };
}

function itemOf(value: unknown): Item {
  const forms = typeof value === 'string' ? beginnings(value) : growing(value);
  return { forms: forms.map((each) => JSON.stringify(each)) };
}

/** Returns growing versions of an object: lists by items, the prompt by length. */
function growing(value: unknown): unknown[] {
  if (!isObject(value)) return [value];
  const grows = ([field, each]: [string, unknown]) => Array.isArray(each) || field === 'prompt';
  const fields = Object.entries(value);
  let base = Object.fromEntries(fields.filter((entry) => !grows(entry)));
  const forms = [base];
  for (const [field, each] of fields.filter(grows)) {
    const steps = Array.isArray(each) ? each.map((_, at) => each.slice(0, at + 1)) : beginnings(String(each));
    const grown = steps.map((step) => ({ ...base, [field]: step }));
    forms.push(...grown);
    base = grown.at(-1) ?? base;
  }
  return forms;
}

/** Orders non-essential fields by importance to the role. */
export function packetStretches(
  { entries }: PacketItems,
  role: Role,
): Readonly<Record<'first' | 'next' | 'last', Stretch<'ledger'>[]>> {
  const { first, next, last } = worthOf(role);
  const stretches = (fields: readonly PacketField[]) =>
    fields.map((field) => ({
      section: 'ledger' as const,
      only: new Set(entries.flatMap((entry, index) => (entry.field === field ? [index] : []))),
    }));
  return { first: stretches(first), next: stretches(next), last: stretches(last) };
}

/** Rebuilds the packet from the shown items; a shortened list ends with the number of entries left out. */
export function shownPacket(
  { entries, whole }: PacketItems,
  shown: Readonly<Record<PacketSection, readonly ShownItem[]>>,
): DeltaPacket {
  const packet: Record<string, unknown> = {};
  const add = (field: PacketField, listed: boolean, { text }: ShownItem) => {
    const value: unknown = JSON.parse(text);
    packet[field] = listed ? [...((packet[field] as unknown[] | undefined) ?? []), value] : value;
  };
  const located = new Map(shown.places.map((each) => [each.index, each]));
  for (const each of shown.required_fixes) add('required_fixes', true, located.get(each.index) ?? each);
  for (const each of shown.blockers) add('blockers', true, each);
  for (const each of shown.ledger) {
    const entry = entries[each.index];
    if (entry !== undefined) add(entry.field, entry.listed, each);
  }
  for (const [field, all] of Object.entries(whole)) {
    const some = packet[field];
    if (Array.isArray(all) && Array.isArray(some) && some.length < all.length)
      some.push(`${all.length - some.length} more`);
  }
  return packet;
}
