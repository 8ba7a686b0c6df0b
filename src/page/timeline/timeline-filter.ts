import type { TimelineEntry } from '../../contracts/replies/timeline-reply.js';
import type { TimelineKind } from '../../contracts/timeline-kinds.js';

/** What is left of a timeline by its address: `kind=result,prompt&task=TAS-1&failed=1&at=42`. */
export interface TimelineFilter {
  /** Empty for all. */
  readonly kinds: readonly TimelineKind[];
  readonly task: string;
  readonly failed: boolean;
  /** The event sequence that the list begins at: later ones are left out. */
  readonly at?: number;
}

export const KINDS: readonly { readonly kind: TimelineKind; readonly label: string }[] = [
  { kind: 'result', label: 'Results' },
  { kind: 'rejected', label: 'Rejected' },
  { kind: 'command', label: 'Commands' },
  { kind: 'trace', label: 'Traces' },
  { kind: 'prompt', label: 'Prompts' },
];

/** Reads the filter of an address. */
export function filterOf(params: URLSearchParams): TimelineFilter {
  const at = Number(params.get('at') ?? 0);
  const named = (params.get('kind') ?? '').split(',');
  return {
    kinds: KINDS.map(({ kind }) => kind).filter((kind) => named.includes(kind)),
    task: params.get('task') ?? '',
    failed: params.get('failed') === '1',
    ...(Number.isSafeInteger(at) && at > 0 && { at }),
  };
}

/** The filter as a request says it. */
export function asRequest({ kinds, task, failed, at }: TimelineFilter) {
  return {
    ...(kinds.length === 0 ? {} : { kinds: [...kinds] }),
    ...(task === '' ? {} : { task }),
    ...(failed ? { failed } : {}),
    ...(at === undefined ? {} : { upTo: at }),
  };
}

/** Whether an entry is left by the filter: the same as the service decides. */
export function fitsFilter({ kinds, task, failed, at }: TimelineFilter, entry: TimelineEntry): boolean {
  if (at !== undefined && entry.sequence > at) return false;
  if (kinds.length > 0 && !kinds.includes(entry.kind)) return false;
  if (task !== '' && entry.task !== task) return false;
  return !failed || entry.failed === true;
}
