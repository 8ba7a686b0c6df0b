import { signal } from '@preact/signals';
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

interface Choice<Value extends string> {
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

/** One name with its value, within `dl class="pairs"`. */
export function Pair({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** How something stands. The words say it; the colour only helps to find it. */
export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet';

/** A word or two about how something stands. */
export function Tag({
  tone = 'quiet',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) {
  return <span class={`tag tag-${tone}`}>{children}</span>;
}

const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 10_000);

/** How long ago something was, with the whole time as its title. `at` is ISO 8601. */
export function Ago({ at }: { readonly at: string }) {
  const time = Date.parse(at);
  if (Number.isNaN(time)) return <span>{at}</span>;
  return (
    <time dateTime={at} title={wholeTime(at)}>
      {agoText(now.value - time)}
    </time>
  );
}

/** Time of day, with the date where it is not today. `at` is ISO 8601. */
export function Clock({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={wholeTime(at)}>
      {clockText(new Date(at), new Date(now.value))}
    </time>
  );
}

/** Made once: each one takes longer than all that it formats on a screen. */
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const DAY_OF_YEAR = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: '2-digit' });

/** Date and time, in the reader's own zone and in UTC. */
export function wholeTime(at: string): string {
  const time = Date.parse(at);
  return Number.isNaN(time) ? at : `${WHOLE.format(time)}, in UTC ${at.slice(0, 19).replace('T', ' ')}`;
}

/** Such as `now`, `40 s`, `5 min`, `3 h`, `12 d`. */
function agoText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 5) return 'now';
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.round(hours / 24)} d ago`;
}

/** Such as `14:03:27`, or `12 Mar 14:03` for another day. */
function clockText(time: Date, today: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const minutes = `${two(time.getHours())}:${two(time.getMinutes())}`;
  if (time.toDateString() === today.toDateString()) return `${minutes}:${two(time.getSeconds())}`;
  const day = (time.getFullYear() === today.getFullYear() ? DAY : DAY_OF_YEAR).format(time);
  return `${day} ${minutes}`;
}

/** What is being typed, until it counts: it stays through other changes of the page, and follows the value itself. */
export function useDraft(value: string): readonly [draft: string, setDraft: (draft: string) => void] {
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  return [draft, setDraft];
}

/** A command for the terminal, with a button that copies it. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="command">
      <code>{text}</code>
      <CopyButton text={text} />
    </div>
  );
}

/** The command that publishes a first result. */
export function publishCommand(session: string): string {
  return `throughline publish implementer --session ${session} --file result.json`;
}

/** Copies a text. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [copied, setCopied] = useState<'no' | 'yes' | 'failed'>('no');
  const copy = async () => {
    setCopied(
      await navigator.clipboard.writeText(text).then(
        () => 'yes' as const,
        () => 'failed' as const,
      ),
    );
    setTimeout(() => setCopied('no'), 1_500);
  };
  return (
    <button type="button" class="button button-small" onClick={() => void copy()}>
      <span role="status">{{ no: label, yes: 'Copied', failed: 'Not allowed' }[copied]}</span>
    </button>
  );
}

/** Characters and lines from which on a text is folded. */
const LONG = 400;
const LINES = 6;

/** A text of a task or a note; a long one shows its first lines, and the rest on demand. */
export function LongText({ text }: { readonly text: string }) {
  const [open, setOpen] = useState(false);
  const long = text.length > LONG || text.split('\n').length > LINES;
  return (
    <>
      <p class={`task-text ${long && !open ? 'task-text-folded' : ''}`}>{text}</p>
      {long ? (
        <button
          type="button"
          class="button button-small task-text-more"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open ? 'Show less' : 'Show all of it'}
        </button>
      ) : null}
    </>
  );
}
