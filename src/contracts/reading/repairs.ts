import { counted, oneLine } from '../../shared/text.js';
import type { recordedRepair } from '../recorded-fact.js';
import type { Output } from '../schema-fields.js';

export const REPAIRS = {
  json: 'the JSON did not parse and was mended',
  around: 'text around the JSON was left out',
  unwrapped: 'was taken out of what was around it',
  renamed: 'was found under another name',
  absent: 'held nothing and counts as left out',
  list: 'was one value and became a list',
  text: 'was not text and became text',
  boolean: 'became true or false',
  object: 'was text or a list and became an object',
  verdict: 'was another word for a verdict',
  severity: 'had no known severity',
  skipped: 'could not be read and was skipped',
  clipped: 'was too long and was cut',
  lines: 'labelled lines were cut, or left out beyond the limit',
} as const satisfies Readonly<Record<string, string>>;

export type RepairKind = keyof typeof REPAIRS;

/** A change that reading made to a result. */
export interface Repair {
  readonly kind: RepairKind;
  /** Path such as `issues.0.severity`; the first if it happened more than once. */
  readonly field: string;
  /** The old or new value; one short line. */
  readonly detail?: string;
  /** Number of items of one list; left out for one. */
  readonly count?: number;
}

/** Field of a result: the number of such lines, which are not in it. */
export const LINES_LEFT_OUT = 'lines_left_out';

const MAX_REPAIRS = 20;
const MAX_DETAIL = 120;
/** The path of the whole result. */
export const WHOLE = 'the body';

/** Collects the repairs of one result. The same repair of several list items is one entry with a count. */
export class Repairs {
  readonly #noted = new Map<string, Repair & { count: number }>();

  note(kind: RepairKind, field: string, detail?: string): void {
    this.#add({ kind, field, ...(detail !== undefined && { detail: short(detail) }), count: 1 });
  }

  take(others: Repairs): void {
    for (const repair of others.#noted.values()) this.#add(repair);
  }

  /** Returns the first repairs and the number of the others. */
  report(): { readonly repairs: readonly Repair[]; readonly repairsOmitted: number } {
    const all = [...this.#noted.values()];
    const first = all.slice(0, MAX_REPAIRS);
    const repairs = first.map(({ count, ...repair }) => (count > 1 ? { ...repair, count } : repair));
    return { repairs, repairsOmitted: all.slice(MAX_REPAIRS).reduce((sum, { count }) => sum + count, 0) };
  }

  #add(repair: Repair & { count: number }): void {
    const key = `${repair.kind} ${repair.field.replace(/\.\d+/g, '')}`;
    const known = this.#noted.get(key);
    if (known !== undefined) known.count += repair.count;
    else this.#noted.set(key, { ...repair });
  }
}

/** Shows a detail whole or not at all: the redactor would not recognize half a secret. */
function short(detail: string): string {
  const line = oneLine(detail);
  return line.length <= MAX_DETAIL ? line : `${line.length} characters`;
}

export type StoredRepair = Output<typeof recordedRepair>;

/** For example `files_modified: was one value and became a list`. */
export function repairInWords({ kind, field, detail, count }: StoredRepair): string {
  const times = count === undefined ? '' : `, ${count} times`;
  const what = Object.hasOwn(REPAIRS, kind) ? REPAIRS[kind as RepairKind] : kind;
  return `${field}: ${what}${detail === undefined ? '' : ` (${detail})`}${times}`;
}

interface Repaired {
  readonly repairs: readonly StoredRepair[];
  readonly repairsOmitted?: number;
}

/** For example `read with 2 repairs: files_modified: …; tests: …`. */
export function repairsInWords({ repairs, repairsOmitted = 0 }: Repaired): string {
  const total = repairs.reduce((sum, { count = 1 }) => sum + count, repairsOmitted);
  const more = repairsOmitted > 0 ? `; and ${repairsOmitted} more` : '';
  return `read with ${counted(total, 'repair')}: ${repairs.map(repairInWords).join('; ')}${more}`;
}
