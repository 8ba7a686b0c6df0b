import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { figure } from '../words.js';

interface Column {
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
function cellClass(column: Column): string {
  return [column.number === true ? 'number' : '', column.wide === true ? 'only-wide' : ''].join(' ').trim();
}

/** How much of something is done, in figures and as a bar. */
export function Progress(props: { readonly label: string; readonly done: number; readonly total: number }) {
  return (
    <span class="progress">
      <span class="progress-label">
        {props.label}{' '}
        <span class="figure">
          {props.done}/{props.total}
        </span>
      </span>
      <Share part={props.done} whole={props.total} />
    </span>
  );
}

/** A bar that is filled by a share. Figures stand beside it: alone it says nothing to those who hear the page. */
export function Share({
  part,
  whole,
  tone,
}: {
  readonly part: number;
  readonly whole: number;
  readonly tone?: string;
}) {
  const share = whole <= 0 ? 0 : Math.min(1, part / whole);
  return (
    <span class="share" aria-hidden="true">
      <span class={`share-part ${tone ?? ''}`} style={{ width: `${(share * 100).toFixed(2)}%` }} />
    </span>
  );
}

interface BarPart {
  readonly name: string;
  readonly value: number;
}

/** What something is made of, as one bar with a legend: `room` is what there is place for. */
export function StackedBar(props: {
  readonly label: string;
  readonly parts: readonly BarPart[];
  readonly room: number;
  readonly unit: string;
}) {
  const used = props.parts.reduce((sum, { value }) => sum + value, 0);
  const whole = Math.max(props.room, used, 1);
  return (
    <figure class="stacked">
      <div class="stacked-bar" aria-hidden="true">
        {props.parts.map(({ name, value }, index) => (
          <span
            key={name}
            class={`stacked-part hue-${index % 8}`}
            title={`${name}: ${figure(value)} ${props.unit}`}
            style={{ width: `${((value / whole) * 100).toFixed(3)}%` }}
          />
        ))}
      </div>
      <figcaption>
        <span class="visually-hidden">{props.label}: </span>
        <ul class="legend">
          {props.parts.map(({ name, value }, index) => (
            <li key={name}>
              <span class={`legend-dot hue-${index % 8}`} aria-hidden="true" />
              {name} <span class="figure">{figure(value)}</span>
            </li>
          ))}
          <li class="quiet">
            <span class="figure">
              {figure(used)} of {figure(props.room)} {props.unit}
            </span>
          </li>
        </ul>
      </figcaption>
    </figure>
  );
}

/** Rows beyond the visible ones, above and below, that are there already when the list is scrolled. */
const OVERSCAN = 12;

interface WindowedListProps {
  /** What the list holds, for those who hear the page. */
  readonly label: string;
  readonly count: number;
  /** Height of every row in pixels. */
  readonly rowHeight: number;
  /** Grows with each row that came in at the top: what is looked at stays where it is. */
  readonly added: number;
  /** Another one for another list: it begins at the top. */
  readonly generation: number;
  /** Index of the chosen row; -1 for none. */
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
  /** The rows that are there, first and last. Told after each render. */
  readonly onRange: (first: number, last: number, atTop: boolean) => void;
  readonly rowClass: (index: number) => string;
  readonly row: (index: number) => ComponentChildren;
}

/** A list of any length of which only the visible rows exist. The chosen row is kept in sight. */
export function WindowedList(props: WindowedListProps) {
  const { count, rowHeight, added, generation, chosen } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 0 });
  const before = useRef({ added, generation, rowHeight });

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measured = new ResizeObserver(() => setView((old) => ({ ...old, height: element.clientHeight })));
    measured.observe(element);
    return () => measured.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const old = before.current;
    before.current = { added, generation, rowHeight };
    if (old.generation !== generation) element.scrollTop = 0;
    else if (old.rowHeight !== rowHeight) element.scrollTop = (element.scrollTop / old.rowHeight) * rowHeight;
    else if (element.scrollTop > 0) element.scrollTop += (added - old.added) * rowHeight;
    setView((view) => (view.top === element.scrollTop ? view : { ...view, top: element.scrollTop }));
  }, [added, generation, rowHeight]);

  // Only a choice moves the list: rows that come in do not.
  const choice = chosen < 0 ? undefined : chosen - added;
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || chosen < 0) return;
    const top = chosen * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight - element.clientHeight;
    }
  }, [choice]);

  const first = Math.max(0, Math.min(count, Math.floor(view.top / rowHeight)) - OVERSCAN);
  const last = Math.min(count - 1, Math.ceil((view.top + view.height) / rowHeight) + OVERSCAN);
  useEffect(() => {
    if (view.height > 0) props.onRange(first, last, view.top < rowHeight);
  });

  const indices = Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => first + place);
  return (
    <div
      ref={box}
      class="windowed"
      role="listbox"
      aria-label={props.label}
      tabIndex={0}
      aria-activedescendant={chosen >= first && chosen <= last ? rowId(chosen - added) : undefined}
      onScroll={(event) => {
        const { scrollTop } = event.currentTarget;
        setView((old) => ({ ...old, top: scrollTop }));
      }}
    >
      <div class="windowed-space" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        <div
          class="windowed-rows"
          role="presentation"
          style={{ transform: `translateY(${first * rowHeight}px)` }}
        >
          {indices.map((index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the focus, and the view binds its keys.
            <div
              key={index - added}
              id={rowId(index - added)}
              class={`windowed-row ${props.rowClass(index)}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              aria-posinset={index + 1}
              aria-setsize={count}
              style={{ height: `${rowHeight}px` }}
              onClick={() => props.onChoose(index)}
            >
              {props.row(index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function rowId(place: number): string {
  return `row-${place}`;
}
