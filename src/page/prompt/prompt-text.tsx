import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type {
  CompiledFact,
  CompiledLearning,
  CompileReply,
  PromptLine,
} from '../../contracts/replies/compile-reply.js';
import { sectionName, statementsIn } from '../../shared/wire-words.js';

/** A compiled prompt line by line; reports the line under the pointer and the focused one. */
export function PromptText(props: {
  readonly rows: readonly PromptRow[];
  readonly shown: number | undefined;
  readonly onShow: (line: number) => void;
  readonly onPin: (line: number) => void;
}) {
  const { rows } = props;
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
        const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
        const target = event.key === 'Home' ? 1 : event.key === 'End' ? rows.length : undefined;
        if (step === undefined && target === undefined) return;
        event.preventDefault();
        go(target ?? focused + (step ?? 0));
      }}
    >
      {rows.map((row) => (
        <div
          key={row.number}
          role="option"
          aria-selected={row.number === props.shown}
          data-line={row.number}
          tabIndex={row.number === focused ? 0 : -1}
          class={`prompt-line ${row.isNew === true ? 'prompt-line-new' : ''} ${linked(row) ? 'prompt-line-linked' : ''}`}
          onFocus={() => {
            setFocused(row.number);
            props.onPin(row.number);
          }}
          onMouseEnter={() => props.onShow(row.number)}
        >
          <span class="prompt-number" aria-hidden="true">
            {row.number}
          </span>
          <span class="prompt-words">
            {row.text.trim() === '' ? <span class="visually-hidden">empty line</span> : row.text}
          </span>
          {row.opens || row.isNew === true ? (
            <span class={`prompt-section ${row.opens ? '' : 'prompt-added'}`}>
              {row.opens ? sectionName(row.section) : ''}
              {row.isNew === true ? <span class="tag tag-good">new</span> : null}
            </span>
          ) : null}
        </div>
      ))}
    </div>
  );
}

function linked({ fact, file, learning, dispatch, text }: PromptRow): boolean {
  return (
    [fact, file, learning, dispatch].some((origin) => origin !== undefined) || statementsIn(text).length > 0
  );
}

export interface PromptRow extends Partial<Omit<PromptLine, 'fact' | 'learning'>> {
  /** Line number, from 1. */
  readonly number: number;
  readonly text: string;
  /** True for the first line of its section. */
  readonly opens: boolean;
  readonly fact?: CompiledFact | undefined;
  readonly learning?: CompiledLearning | undefined;
  /** True for a line that the prompt before this one did not have. */
  readonly isNew?: boolean;
}

/**
 * Returns the lines of a prompt that was compiled with its facts, learnings and lines.
 *
 * @param before the prompt before this one, to mark what is new
 */
export function promptRows(
  reply: Pick<CompileReply, 'kind' | 'prompt' | 'lines' | 'facts' | 'learnings'>,
  before?: string,
): PromptRow[] {
  const { prompt, lines = [], facts = [], learnings = [] } = reply;
  const known = before === undefined ? undefined : new Set(before.split('\n'));
  const rows = prompt.split('\n').map((text, index): PromptRow => {
    const isNew = known !== undefined && text.trim() !== '' && !known.has(text);
    return { number: index + 1, text, opens: false, isNew };
  });
  let opened: string | undefined;
  for (const line of lines) {
    const fact = facts.find(({ id }) => id === line.fact);
    const learning = learnings.find(({ id }) => id === line.learning);
    for (let number = line.from; number <= line.to; number += 1) {
      const row = rows[number - 1];
      if (row === undefined) continue;
      rows[number - 1] = { ...row, ...line, opens: line.section !== opened, fact, learning };
      opened = line.section;
    }
  }
  return rows;
}
