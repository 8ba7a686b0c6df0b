import type { ComponentChildren } from 'preact';

export interface Column {
  readonly name: string;
  /** Numbers stand at the right. */
  readonly number?: boolean;
  /** Left out on a narrow screen. */
  readonly wide?: boolean;
}

/** A table that scrolls by itself where the screen is narrow. Its rows are `tr` with as many cells as columns. */
export function Table(props: {
  /** What the table holds, for those who hear the page. */
  readonly label: string;
  readonly columns: readonly Column[];
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="table-scroll" aria-label={props.label} tabIndex={0}>
      <table class="table">
        <thead>
          <tr>
            {props.columns.map((column) => (
              <th key={column.name} scope="col" class={cellClass(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </section>
  );
}

/** The class of a cell of a column. */
export function cellClass(column: Column): string {
  return [column.number === true ? 'number' : '', column.wide === true ? 'only-wide' : ''].join(' ').trim();
}
