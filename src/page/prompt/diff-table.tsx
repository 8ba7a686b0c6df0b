import { useMemo, useState } from 'preact/hooks';
import { narrow } from '../screen-width.js';
import { type DiffRow, type DiffSide, type DiffStretch, foldedRows } from './diff-lines.js';

/** Two texts beside each other; below each other where the screen is narrow. Equal stretches are folded. */
export function DiffTable(props: {
  readonly rows: readonly DiffRow[];
  readonly left: string;
  readonly right: string;
}) {
  const stretches = useMemo(() => foldedRows(props.rows), [props.rows]);
  const [open, setOpen] = useState<ReadonlySet<DiffStretch>>(new Set());
  const unified = narrow.value;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="card diff" aria-label="Both prompts, line by line" tabIndex={0}>
      <table class={unified ? 'diff-table diff-unified' : 'diff-table'}>
        <colgroup>
          <col class="diff-col" />
          <col />
          {unified ? null : <col class="diff-col" />}
          {unified ? null : <col />}
        </colgroup>
        <thead>
          {unified ? (
            <tr>
              <th scope="col" colSpan={2}>
                {props.left} → {props.right}
              </th>
            </tr>
          ) : (
            <tr>
              <th scope="col" colSpan={2}>
                {props.left}
              </th>
              <th scope="col" colSpan={2}>
                {props.right}
              </th>
            </tr>
          )}
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
  if (row.kind === 'same') {
    return (
      <tr>
        <Side side={row.right} row={row} sign="added" />
      </tr>
    );
  }
  return (
    <>
      {row.left === undefined ? null : (
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
