import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { figure } from '../words.js';

interface Column {
  readonly name: string;
  /** Aligned to the right. */
  readonly number?: boolean;
  /** Hidden on a narrow screen. */
  readonly wide?: boolean;
}

/** A table with a scroll bar of its own. Its children are `tr` rows. */
export function Table(props: {
  readonly label: string;
  readonly columns: readonly Column[];
  /** Makes the named columns sortable. */
  readonly sort?: { readonly by: string; readonly isDown: boolean; readonly onSort: (name: string) => void };
  readonly children: ComponentChildren;
}) {
  const { sort } = props;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
    <section class="table-scroll" aria-label={props.label} tabIndex={0}>
      <table class="table">
        <thead>
          <tr>
            {props.columns.map(({ name, number, wide }) => (
              <th
                key={name}
                scope="col"
                class={`${number ? 'number' : ''} ${wide ? 'only-wide' : ''}`}
                aria-sort={sort?.by === name ? (sort.isDown ? 'descending' : 'ascending') : undefined}
              >
                {sort === undefined ? (
                  name
                ) : (
                  <button type="button" class="sort" onClick={() => sort.onSort(name)}>
                    {name} {sort.by === name ? (sort.isDown ? '↓' : '↑') : ''}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </section>
  );
}

/** Background of the section at an index; sections after the eleventh repeat the colours. */
export function hue(index: number) {
  return { background: `var(--hue-${index % 11})` };
}

/** A bar of parts with a legend. */
export function StackedBar(props: {
  readonly label: string;
  readonly parts: readonly { readonly name: string; readonly value: number }[];
  /** Value of a full bar. */
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
            class="stacked-part"
            title={`${name}: ${figure(value)} ${props.unit}`}
            style={{ ...hue(index), width: `${((value / whole) * 100).toFixed(3)}%` }}
          />
        ))}
      </div>
      <figcaption>
        <span class="visually-hidden">{props.label}: </span>
        <ul class="legend small">
          {props.parts.map(({ name, value }, index) => (
            <li key={name}>
              <span class="legend-dot" style={hue(index)} aria-hidden="true" />
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

/** Rows rendered above and below the visible ones. */
const OVERSCAN = 12;

interface WindowedListProps {
  readonly label: string;
  readonly count: number;
  /** In pixels. */
  readonly rowHeight: number;
  /** Rows added at the top so far. The rows on the screen stay in place when it grows. */
  readonly added: number;
  /** Changes with the list, which then scrolls to the top. */
  readonly generation: number;
  /** -1 for none. */
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
  /** Called after each render with the rendered rows. */
  readonly onRange: (first: number, last: number, atTop: boolean) => void;
  readonly rowClass: (index: number) => string;
  readonly row: (index: number) => ComponentChildren;
}

/** A virtual list: only the visible rows exist. Choosing a row scrolls to it. */
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

  // Only a choice scrolls the list: new rows do not.
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
