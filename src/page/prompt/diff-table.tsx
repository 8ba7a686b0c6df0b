import { diffArrays, diffWordsWithSpace } from 'diff';
import { useMemo, useState } from 'preact/hooks';
import { narrow } from '../theme.js';

/** A diff side by side, or unified on a narrow screen. Long equal stretches are folded. */
export function DiffTable(props: {
  readonly rows: readonly DiffRow[];
  readonly left: string;
  readonly right: string;
}) {
  const stretches = useMemo(() => foldedRows(props.rows), [props.rows]);
  const [open, setOpen] = useState<ReadonlySet<DiffStretch>>(new Set());
  const unified = narrow.value;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
    <section class="card diff" aria-label="Both prompts, line by line" tabIndex={0}>
      <table class={unified ? 'diff-table diff-unified' : 'diff-table'}>
        <colgroup>
          <col class="diff-col" />
          <col />
          {unified ? null : <col class="diff-col" />}
          {unified ? null : <col />}
        </colgroup>
        <thead>
          <tr>
            {(unified ? [`${props.left} → ${props.right}`] : [props.left, props.right]).map(
              (title, index) => (
                <th key={index} scope="col" colSpan={2}>
                  {title}
                </th>
              ),
            )}
          </tr>
        </thead>
        {stretches.map((stretch, index) => (
          <tbody key={index}>
            {stretch.folded && !open.has(stretch) ? (
              <tr class="diff-fold">
                <td colSpan={unified ? 2 : 4}>
                  <button
                    type="button"
                    class="link-button"
                    onClick={() => setOpen(new Set([...open, stretch]))}
                  >
                    {stretch.rows.length} equal {stretch.rows.length === 1 ? 'line' : 'lines'}
                  </button>
                </td>
              </tr>
            ) : (
              stretch.rows.map((row) =>
                unified ? <Unified key={keyOf(row)} row={row} /> : <Beside key={keyOf(row)} row={row} />,
              )
            )}
          </tbody>
        ))}
      </table>
    </section>
  );
}

function Beside({ row }: { readonly row: DiffRow }) {
  return (
    <tr>
      <Side side={row.left} row={row} sign="removed" />
      <Side side={row.right} row={row} sign="added" />
    </tr>
  );
}

function Unified({ row }: { readonly row: DiffRow }) {
  return (
    <>
      {row.left === undefined || row.kind === 'same' ? null : (
        <tr>
          <Side side={row.left} row={row} sign="removed" />
        </tr>
      )}
      {row.right === undefined ? null : (
        <tr>
          <Side side={row.right} row={row} sign="added" />
        </tr>
      )}
    </>
  );
}

function Side(props: {
  readonly side: DiffSide | undefined;
  readonly row: DiffRow;
  readonly sign: 'added' | 'removed';
}) {
  const { side, row, sign } = props;
  if (side === undefined) return <td class="diff-none" colSpan={2} />;
  const changed = row.kind !== 'same';
  return (
    <>
      <td class={`diff-number ${changed ? `diff-${sign}` : ''}`}>
        {side.number}
        {changed ? <span class="diff-sign">{sign === 'added' ? '+' : '−'}</span> : null}
      </td>
      <td class={`diff-words ${changed ? `diff-${sign}` : ''}`}>
        {side.pieces.map(({ text, changed: marked }, index) =>
          marked && row.kind === 'changed' ? (
            sign === 'added' ? (
              <ins key={index}>{text}</ins>
            ) : (
              <del key={index}>{text}</del>
            )
          ) : (
            <span key={index}>{text}</span>
          ),
        )}
      </td>
    </>
  );
}

function keyOf({ left, right }: DiffRow): string {
  return `${left?.number ?? ''}:${right?.number ?? ''}`;
}

interface DiffPiece {
  readonly text: string;
  readonly changed: boolean;
}

export interface DiffSide {
  /** 1 for the first line of its text. */
  readonly number: number;
  readonly pieces: readonly DiffPiece[];
}

/** A line of each text if they belong together, or a line of one. */
interface DiffRow {
  readonly kind: 'same' | 'changed' | 'removed' | 'added';
  readonly left?: DiffSide;
  readonly right?: DiffSide;
}

interface DiffStretch {
  readonly folded: boolean;
  readonly rows: readonly DiffRow[];
}

/** Smallest share of equal characters of two lines that are shown as one changed line. */
const ALIKE = 0.3;
/** Longest pair of lines that is compared word by word, in characters: a longer pair takes too long. */
const LONGEST_LINE = 20_000;

/** Compares two texts line by line, and changed lines word by word. */
export function diffRows(left: string, right: string): DiffRow[] {
  const rows: DiffRow[] = [];
  const next = { left: 1, right: 1 };
  const changes = diffArrays(left.split('\n'), right.split('\n'));
  for (let at = 0; at < changes.length; at += 1) {
    const { value = [], added, removed } = changes[at] ?? {};
    const following = changes[at + 1];
    if (removed && following?.added) {
      rows.push(...pairs(value, following.value, next));
      at += 1;
    } else if (removed) {
      for (const text of value) rows.push({ kind: 'removed', left: side(next.left++, text, true) });
    } else if (added) {
      for (const text of value) rows.push({ kind: 'added', right: side(next.right++, text, true) });
    } else {
      for (const text of value)
        rows.push({ kind: 'same', left: side(next.left++, text), right: side(next.right++, text) });
    }
  }
  return rows;
}

/** Pairs removed with added lines if they are similar. */
function pairs(
  before: readonly string[],
  after: readonly string[],
  next: { left: number; right: number },
): DiffRow[] {
  const rows: DiffRow[] = [];
  const most = Math.max(before.length, after.length);
  for (let at = 0; at < most; at += 1) {
    const [old, fresh] = [before[at], after[at]];
    const words = old !== undefined && fresh !== undefined ? wordPieces(old, fresh) : undefined;
    if (words !== undefined) {
      const left = { number: next.left++, pieces: words.left };
      rows.push({ kind: 'changed', left, right: { number: next.right++, pieces: words.right } });
      continue;
    }
    if (old !== undefined) rows.push({ kind: 'removed', left: side(next.left++, old, true) });
    if (fresh !== undefined) rows.push({ kind: 'added', right: side(next.right++, fresh, true) });
  }
  return rows;
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
  const pieces = (gone: 'added' | 'removed') =>
    words
      .filter((word) => !word[gone])
      .map(({ value, added, removed }) => ({ text: value, changed: added || removed }));
  return { left: pieces('added'), right: pieces('removed') };
}

function side(number: number, text: string, changed = false): DiffSide {
  return { number, pieces: [{ text, changed }] };
}

/**
 * Folds equal rows.
 *
 * @param around equal rows that stay before and after a change
 */
export function foldedRows(rows: readonly DiffRow[], around = 3): DiffStretch[] {
  const stretches: DiffStretch[] = [];
  let at = 0;
  while (at < rows.length) {
    const same = rows[at]?.kind === 'same';
    let end = at;
    while (end < rows.length && (rows[end]?.kind === 'same') === same) end += 1;
    const head = at === 0 ? 0 : around;
    const tail = end === rows.length ? 0 : around;
    const hidden = end - at - head - tail;
    const cuts = same && hidden >= 3 ? [at, at + head, end - tail, end] : [at, end];
    for (const [index, from] of cuts.slice(0, -1).entries())
      stretches.push({ folded: index === 1, rows: rows.slice(from, cuts[index + 1]) });
    at = end;
  }
  return stretches.filter((stretch) => stretch.rows.length > 0);
}

/** Counts the lines that are only in one text; a changed line counts for both. */
export function diffCounts(rows: readonly DiffRow[]): { readonly removed: number; readonly added: number } {
  const count = (kind: DiffRow['kind']) => rows.filter((row) => row.kind === kind).length;
  const changed = count('changed');
  return { removed: count('removed') + changed, added: count('added') + changed };
}
