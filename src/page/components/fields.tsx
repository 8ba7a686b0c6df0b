import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** How long a reader pauses before a filter counts, in milliseconds. */
const TYPING_MS = 200;

/** A text that filters what is shown. `/` goes to the first one of a page. */
export function FilterField(props: {
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  readonly onFilter: (value: string) => void;
}) {
  const [text, setText] = useState(props.value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const sent = useRef(props.value);
  // The address may change it too: back, forward, a link.
  useEffect(() => {
    if (props.value === sent.current) return;
    sent.current = props.value;
    setText(props.value);
  }, [props.value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const send = (value: string) => {
    clearTimeout(timer.current);
    sent.current = value;
    props.onFilter(value);
  };
  return (
    <label class="field">
      <span class="field-label">{props.label}</span>
      <input
        type="search"
        data-filter
        value={text}
        placeholder={props.placeholder ?? ''}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          const { value } = event.currentTarget;
          setText(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => send(value.trim()), TYPING_MS);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') send(event.currentTarget.value.trim());
        }}
      />
    </label>
  );
}

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
}

/** One of a few values. */
export function SelectField<Value extends string>(props: {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChoose: (value: Value) => void;
}) {
  return (
    <label class="field">
      <span class="field-label">{props.label}</span>
      <select
        value={props.value}
        onChange={(event) => {
          const chosen = props.choices.find(({ value }) => value === event.currentTarget.value);
          if (chosen !== undefined) props.onChoose(chosen.value);
        }}
      >
        {props.choices.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A button that is on or off. */
export function Toggle(props: {
  readonly on: boolean;
  readonly onToggle: (on: boolean) => void;
  readonly children: ComponentChildren;
}) {
  return (
    <button type="button" class="chip" aria-pressed={props.on} onClick={() => props.onToggle(!props.on)}>
      {props.children}
    </button>
  );
}
