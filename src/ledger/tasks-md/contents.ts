import { addTo } from '../../shared/collections.js';
import type { Draft, Heading } from './scan.js';

/**
 * Finds the entries that only repeat a heading below them: `- [ ] Setup` over `## Setup`, `- [ ] Phase 9: Training` over
 * `### Phase 9: Training`. A list of which every entry repeats a heading is a list of contents. If the heading is a
 * task, it takes over the entry's status.
 *
 * @param needsTasks true if only headings that hold tasks count
 */
export function contentsOf(
  drafts: readonly Draft[],
  headings: readonly Heading[],
  confirmed: ReadonlySet<Heading>,
  needsTasks: boolean,
): ReadonlySet<Draft> {
  const lists = new Map<Heading | undefined, Draft[]>();
  const holders = new Set<Heading>(confirmed);
  for (const draft of drafts) {
    for (let heading = draft.under; heading !== undefined && !holders.has(heading); heading = heading.outer)
      holders.add(heading);
    const isTop = draft.owner === undefined && draft.origin !== 'heading';
    if (isTop && !(draft.under !== undefined && confirmed.has(draft.under))) addTo(lists, draft.under, draft);
  }
  const named = new Map<string, Heading>();
  // The first of several headings with one name counts.
  for (const heading of headings.toReversed()) {
    if (needsTasks && !holders.has(heading)) continue;
    const { head } = heading.draft ?? {};
    named.set(wordsOf((head ?? heading).text), heading);
    if (head?.id !== undefined) named.set(head.id, heading);
  }
  const contents = new Set<Draft>();
  for (const list of lists.values()) {
    const found = list.map((draft) => headingOf(draft, named));
    const isContents = list.length > 1 && !found.includes(undefined);
    for (const [at, draft] of list.entries()) {
      const heading = found[at];
      const task = heading !== undefined && confirmed.has(heading) ? heading.draft : undefined;
      const isSame = task !== undefined && task.head.id !== undefined && task.head.id === draft.head.id;
      if (!isContents && !isSame) continue;
      contents.add(draft);
      const mark = draft.head.box?.mark ?? draft.head.stated?.mark;
      if (mark !== undefined) task?.statuses.push({ from: 'contents', line: draft.line, mark });
    }
  }
  return contents;
}

/** Finds the heading below an entry: with the same id and the same beginning, or with the same words. */
function headingOf({ head, line }: Draft, named: ReadonlyMap<string, Heading>): Heading | undefined {
  const words = wordsOf(head.text);
  const heading = named.get(head.id ?? words);
  if (heading === undefined || heading.line < line) return undefined;
  const title = wordsOf((heading.draft?.head ?? heading).text);
  return words.startsWith(title) || title.startsWith(words) ? heading : undefined;
}

function wordsOf(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
}
