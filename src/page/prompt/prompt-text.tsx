import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type PromptRow, sectionName } from './prompt-lines.js';

/** A compiled prompt line by line. The line under the pointer, else the one in focus, is told to the view. */
export function PromptText(props: {
  readonly rows: readonly PromptRow[];
  /** Colour of a section, by its place in the bar; undefined for none. */
  readonly hueOf: (section: string | undefined) => number | undefined;
  readonly shown: number | undefined;
  readonly onShow: (line: number) => void;
  readonly onPin: (line: number) => void;
}) {
  const { rows, hueOf } = props;
  const [focused, setFocused] = useState(1);
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => setFocused((line) => Math.min(line, rows.length)), [rows.length]);
  const go = (line: number) => {
    const target = Math.min(rows.length, Math.max(1, line));
    list.current?.querySelector<HTMLElement>(`[data-line="${target}"]`)?.focus();
  };
  return (
    <div
      ref={list}
      class="prompt-text"
      role="listbox"
      aria-label="Lines of the prompt"
      onKeyDown={(event) => {
        const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 20, PageUp: -20 }[event.key];
        const target = event.key === 'Home' ? 1 : event.key === 'End' ? rows.length : undefined;
        if (step === undefined && target === undefined) return;
        event.preventDefault();
        go(target ?? focused + (step ?? 0));
      }}
    >
      {rows.map((row) => {
        const hue = hueOf(row.section);
        return (
          <div
            key={row.number}
            role="option"
            aria-selected={row.number === props.shown}
            data-line={row.number}
            data-row={row.number === focused ? true : undefined}
            tabIndex={row.number === focused ? 0 : -1}
            class={`prompt-line ${linked(row) ? 'prompt-line-linked' : ''} ${row.opens ? 'prompt-line-opens' : ''}`}
            onFocus={() => {
              setFocused(row.number);
              props.onPin(row.number);
            }}
            onMouseEnter={() => props.onShow(row.number)}
          >
            <span class={`prompt-mark ${hue === undefined ? '' : `hue-${hue % 8}`}`} aria-hidden="true" />
            <span class="prompt-number" aria-hidden="true">
              {row.number}
            </span>
            <span class="prompt-words">
              {row.text.trim() === '' ? <span class="visually-hidden">empty line</span> : row.text}
            </span>
            {row.opens ? <span class="prompt-section">{sectionName(row.section)}</span> : null}
          </div>
        );
      })}
    </div>
  );
}

/** Whether a line has an origin of its own. */
function linked({ fact, file, learning, dispatch }: PromptRow): boolean {
  return [fact, file, learning, dispatch].some((each) => each !== undefined);
}
