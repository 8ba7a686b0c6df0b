import { addTo } from '../../shared/collections.js';
import { addAll, type Draft, type Heading } from './draft.js';
import type { Mark } from './marks.js';

/**
 * Drops lists that only repeat headings below them, each of which has tasks: `- [ ] Setup` over `## Setup`, `- Phase 1:
 * Setup` over `## Phase 1: Setup`. If the heading is a task, it takes over the list's statuses.
 */
export function withoutRepeats(
  drafts: readonly Draft[],
  headings: readonly Heading[],
  confirmed: ReadonlySet<Heading>,
): readonly Draft[] {
  const lists = new Map<Heading | undefined, Draft[]>();
  const holders = new Set<Heading>();
  for (const draft of drafts) {
    const { under, owner, origin } = draft;
    for (let each = under; each !== undefined && !holders.has(each); each = each.outer) holders.add(each);
    if (owner !== undefined || (origin !== 'checkbox' && origin !== 'list')) continue;
    if (under !== undefined && confirmed.has(under)) continue;
    addTo(lists, under, draft);
  }
  const named = new Map<string, Heading>();
  // The first of several headings with one name counts.
  for (const heading of headings.toReversed()) {
    if (!holders.has(heading) || heading.isStatus) continue;
    const { head } = heading.draft ?? {};
    named.set(wordsOf((head ?? heading).text), heading);
    if (head?.phase && head.id !== undefined) named.set(head.id, heading);
  }
  const repeated = new Set<Draft>();
  for (const list of lists.values()) {
    const found = list.map((draft) => headingOf(draft, named));
    if (list.length < 2 || found.includes(undefined)) continue;
    for (const [at, draft] of list.entries()) {
      const heading = found[at];
      repeated.add(draft);
      if (heading?.draft !== undefined && confirmed.has(heading)) mergeInto(heading.draft, draft);
    }
  }
  return repeated.size === 0 ? drafts : drafts.filter((draft) => !repeated.has(draft));
}

/** Finds the heading below an item with the same text, or for a phase the same number and beginning. */
function headingOf({ head, line }: Draft, named: ReadonlyMap<string, Heading>): Heading | undefined {
  const heading = named.get(head.phase ? (head.id ?? '') : wordsOf(head.text));
  if (heading === undefined || heading.line < line) return undefined;
  const [title, other] = [titleOf(head.text), titleOf((heading.draft?.head ?? heading).text)];
  return title.startsWith(other) || other.startsWith(title) ? heading : undefined;
}

/**
 * Merges tasks listed twice: `- [ ] Phase 9: Training` in an overview and `### Phase 9: Training` below. Prefers the
 * one with a body, else the heading, else the later one; the overview's status is weaker.
 */
export function mergeOverviews(drafts: readonly Draft[], confirmed: ReadonlySet<Heading>): Draft[] {
  const parentOf = ({ under, owner }: Draft): Draft | undefined => owner ?? headingTask(under, confirmed);
  const idOf = (draft: Draft): string | undefined => {
    if (draft.origin === 'table' || draft.origin === 'entry') return undefined;
    return draft.head.id ?? (parentOf(draft) === undefined ? draft.ordinal?.toString() : undefined);
  };
  const several = repeated(drafts.map(idOf));
  if (several.size === 0) return [...drafts];
  const held = new Set<Draft>();
  for (const draft of drafts) {
    const parent = parentOf(draft);
    if (parent !== undefined) held.add(parent);
  }
  const weight = (draft: Draft): number =>
    (held.has(draft) ? 4 : 0) +
    (draft.origin === 'heading' ? 2 : 0) +
    (draft.prompt !== undefined || draft.details.length + draft.requirements.length > 0 ? 1 : 0);
  const details = new Map<string, Draft>();
  const dropped = new Set<Draft>();
  for (const draft of drafts) {
    const id = idOf(draft);
    if (id === undefined || !several.has(id)) continue;
    const key = `${id}\n${titleOf(draft.head.text)}`;
    const first = details.get(key) ?? details.get(`${id}\n`);
    if (first === undefined || first.owner !== draft.owner) {
      details.set(key, draft);
      continue;
    }
    const [overview, detail] = weight(first) > weight(draft) ? [draft, first] : [first, draft];
    // Two with subtasks are different tasks.
    if (held.has(overview)) continue;
    // Numbers of two lists are unrelated.
    if (overview.head.id === undefined && detail.origin !== 'heading') continue;
    details.set(key, detail);
    dropped.add(overview);
    mergeInto(detail, overview);
  }
  return drafts.filter((draft) => !dropped.has(draft));
}

function repeated(ids: readonly (string | undefined)[]): ReadonlySet<string> {
  const once = new Set<string>();
  const several = new Set<string>();
  for (const id of ids) {
    if (id === undefined) continue;
    if (once.has(id)) several.add(id);
    once.add(id);
  }
  return several;
}

/** Returns the title before its description: `Foundation` of `**Foundation** - Scaffold and pipeline`. */
function titleOf(text: string): string {
  const [title = ''] = text.slice(0, 200).split(/\s(?:[-–—]+\s|\()|[:：]\s/);
  return wordsOf(title);
}

function wordsOf(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
}

const LISTS = ['requirements', 'dependsOn', 'details'] as const;

function mergeInto(detail: Draft, overview: Draft): void {
  const { box, mark } = overview.head;
  const said = box?.mark ?? mark;
  if (said !== undefined) overview.statuses.unshift({ from: 'overview', line: overview.line, mark: said });
  // Once per mark: a plan may repeat a task a thousand times.
  const isNew = ({ from, mark }: Draft['statuses'][number]): boolean =>
    !detail.statuses.some((each) => each.from === from && sameMark(each.mark, mark));
  for (const stated of overview.statuses) if (isNew(stated)) detail.statuses.push(stated);
  for (const field of LISTS) {
    const known = new Set(detail[field]);
    addAll(
      detail[field],
      overview[field].filter((each) => !known.has(each)),
    );
  }
  if (overview.prompt !== undefined) detail.prompt ??= overview.prompt;
}

export function headingTask(from: Heading | undefined, confirmed: ReadonlySet<Heading>): Draft | undefined {
  for (let heading = from; heading !== undefined; heading = heading.outer) {
    if (heading.draft !== undefined && confirmed.has(heading)) return heading.draft;
  }
  return undefined;
}

function sameMark(one: Mark, other: Mark): boolean {
  return one.status === other.status && one.hold === other.hold;
}
