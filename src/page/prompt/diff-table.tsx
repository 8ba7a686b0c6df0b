import { diffArrays, diffWordsWithSpace } from 'diff';
import { useMemo, useState } from 'preact/hooks';
import { Button } from '../components/fields.js';
import { counted } from '../words.js';

/** A unified diff. Long equal stretches are folded. */
export function DiffTable({ lines, title }: { readonly lines: readonly DiffLine[]; readonly title: string }) {
  const stretches = useMemo(() => foldedLines(lines), [lines]);
  const [open, setOpen] = useState<ReadonlySet<DiffStretch>>(new Set());
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
    <section class="card diff" aria-label="Both prompts, line by line" tabIndex={0}>
      <table class="diff-table">
        <thead>
          <tr>
            <th scope="col" colSpan={2}>
              {title}
            </th>
          </tr>
        </thead>
        {stretches.map((stretch, index) => (
          <tbody key={index}>
            {stretch.folded && !open.has(stretch) ? (
              <tr class="diff-fold">
                <td colSpan={2}>
                  <Button small onClick={() => setOpen(new Set([...open, stretch]))}>
                    {counted(stretch.lines.length, 'equal line')}
                  </Button>
                </td>
              </tr>
            ) : (
              stretch.lines.map((line) => <Line key={`${line.kind} ${line.number}`} line={line} />)
            )}
          </tbody>
        ))}
      </table>
    </section>
  );
}

function Line({ line: { kind, number, pieces } }: { readonly line: DiffLine }) {
  const Mark = kind === 'added' ? 'ins' : 'del';
  return (
    <tr class={`diff-${kind}`}>
      <td class="diff-number">
        {number}
        <span class="diff-sign">{{ same: '', added: '+', removed: '−' }[kind]}</span>
      </td>
      <td class="diff-words">
        {pieces.map(({ text, changed }, index) =>
          changed ? <Mark key={index}>{text}</Mark> : <span key={index}>{text}</span>,
        )}
      </td>
    </tr>
  );
}

interface DiffPiece {
  readonly text: string;
  /** True for words that the other version of a changed line does not have. */
  readonly changed: boolean;
}

/** A line of both texts, or of one. A changed line is a removed one, followed by an added one. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  /** 1 for the first line of its text: the old one for a removed line, else the new one. */
  readonly number: number;
  readonly pieces: readonly DiffPiece[];
}

interface DiffStretch {
  readonly folded: boolean;
  readonly lines: readonly DiffLine[];
}

/** Smallest share of equal characters of two lines that are shown as one changed line. */
const ALIKE = 0.3;
/** Longest pair of lines that is compared word by word, in characters: a longer pair takes too long. */
const LONGEST_LINE = 20_000;

/** Compares two texts line by line, and changed lines word by word. */
export function diffLines(before: string, after: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let [old, fresh] = [0, 0];
  const remove = (pieces: readonly DiffPiece[]) => lines.push({ kind: 'removed', number: ++old, pieces });
  const add = (pieces: readonly DiffPiece[]) => lines.push({ kind: 'added', number: ++fresh, pieces });
  let gone: string[] = [];
  for (const { value, added, removed } of diffArrays(before.split('\n'), after.split('\n'))) {
    if (removed) gone = value;
    else if (added) {
      for (let at = 0; at < Math.max(gone.length, value.length); at += 1) {
        const [left, right] = [gone[at], value[at]];
        const words = left !== undefined && right !== undefined ? wordPieces(left, right) : undefined;
        if (left !== undefined) remove(words?.removed ?? whole(left));
        if (right !== undefined) add(words?.added ?? whole(right));
      }
      gone = [];
    } else {
      for (const text of gone.splice(0)) remove(whole(text));
      for (const text of value) {
        old += 1;
        lines.push({ kind: 'same', number: ++fresh, pieces: whole(text) });
      }
    }
  }
  for (const text of gone) remove(whole(text));
  return lines;
}

function whole(text: string): DiffPiece[] {
  return [{ text, changed: false }];
}

/** Returns undefined for lines that have too little in common. */
function wordPieces(left: string, right: string) {
  if (left.length + right.length > LONGEST_LINE) return undefined;
  const words = diffWordsWithSpace(left, right);
  const same = words.reduce(
    (sum, { value, added, removed }) => (added || removed ? sum : sum + value.length),
    0,
  );
  if (same < ALIKE * Math.max(left.length, right.length)) return undefined;
  const pieces = (other: 'added' | 'removed') =>
    words
      .filter((word) => !word[other])
      .map(({ value, added, removed }) => ({ text: value, changed: added || removed }));
  return { removed: pieces('added'), added: pieces('removed') };
}

/**
 * Folds equal lines.
 *
 * @param around equal lines that stay before and after a change
 */
export function foldedLines(lines: readonly DiffLine[], around = 3): DiffStretch[] {
  const stretches: DiffStretch[] = [];
  let at = 0;
  while (at < lines.length) {
    const same = lines[at]?.kind === 'same';
    let end = at;
    while (end < lines.length && (lines[end]?.kind === 'same') === same) end += 1;
    const head = at === 0 ? 0 : around;
    const tail = end === lines.length ? 0 : around;
    const hidden = end - at - head - tail;
    const cuts = same && hidden >= 3 ? [at, at + head, end - tail, end] : [at, end];
    for (const [index, from] of cuts.slice(0, -1).entries())
      stretches.push({ folded: index === 1, lines: lines.slice(from, cuts[index + 1]) });
    at = end;
  }
  return stretches.filter((stretch) => stretch.lines.length > 0);
}
