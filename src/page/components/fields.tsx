import { signal } from '@preact/signals';
import { type ComponentChildren, toChildArray } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { spaced, type Tone, toneOf } from '../words.js';

/** Pause in typing after which a filter applies, in milliseconds. */
const TYPING_MS = 200;

/** A text or date that applies when its typing pauses. */
export function FilterField(props: {
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  readonly list?: readonly string[];
  readonly date?: boolean;
  readonly onFilter: (value: string) => void;
}) {
  const { label, list } = props;
  const listId = `list-${label.replace(/\W/g, '')}`;
  const [text, setText] = useState(props.value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const sent = useRef(props.value);
  // The address may change the value too: back, forward, a link.
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
      <span class="field-label">{label}</span>
      <input
        type={props.date === true ? 'date' : 'search'}
        list={list && listId}
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
          if (event.key === 'Enter' && !event.isComposing) send(event.currentTarget.value.trim());
        }}
      />
      {list && (
        <datalist id={listId}>
          {list.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </label>
  );
}

export function SelectField<Value extends string>(props: {
  readonly label: string;
  /** Names the subject for a screen reader, which reads the label alone. */
  readonly of?: string;
  readonly value: Value;
  readonly choices: readonly { readonly value: Value; readonly label: string }[];
  readonly onChoose: (value: Value) => void;
}) {
  return (
    <label class="field">
      <span class="field-label">{props.label}</span>
      <select
        value={props.value}
        aria-label={props.of === undefined ? undefined : `${props.label}: ${props.of}`}
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

export function Button(props: {
  readonly onClick: () => void;
  readonly small?: boolean;
  readonly tone?: 'main' | 'bad' | undefined;
  readonly disabled?: boolean;
  readonly open?: boolean | undefined;
  /** Names the subject for a screen reader, which reads the label alone. */
  readonly of?: string | undefined;
  readonly children: ComponentChildren;
}) {
  const { small, tone, disabled } = props;
  return (
    <button
      type="button"
      class={`button ${small ? 'button-small' : ''} ${tone ? `button-${tone}` : ''}`}
      disabled={disabled}
      aria-expanded={props.open}
      aria-label={props.of === undefined ? undefined : `${wordsOf(props.children)}: ${props.of}`}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  );
}

function wordsOf(children: ComponentChildren): string {
  return Array.isArray(children) ? children.join('') : String(children);
}

export function ButtonLink(props: { readonly href: string; readonly children: ComponentChildren }) {
  return (
    <a class="button button-small" href={props.href}>
      {props.children}
    </a>
  );
}

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

/** A link that fills its row. Its parts are words of their own, also for a screen reader. */
export function Pick(props: {
  readonly class: string;
  readonly href: string;
  readonly current: boolean;
  readonly open?: boolean;
  readonly onClick?: () => void;
  readonly children: ComponentChildren;
}) {
  return (
    <a
      class={`pick ${props.class}`}
      href={props.href}
      aria-expanded={props.open}
      aria-current={props.current ? 'true' : undefined}
      onClick={props.onClick}
    >
      {toChildArray(props.children).flatMap((part) => [part, ' '])}
    </a>
  );
}

/** A name with its value, inside `dl class="pairs"`. */
export function Pair({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A state in a word or two. The colour adds no meaning of its own. */
export function Tag(props: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`tag tag-${props.tone ?? 'quiet'}`}>{props.children}</span>;
}

/** Role and verdict of a result, from an outcome such as `reviewer_needs_changes`; an observer gives no verdict. */
export function Outcome({ outcome }: { readonly outcome: string }) {
  const [, role = '', verdict = ''] = /^([^_]*)_(.*)/.exec(outcome) ?? [];
  return <Tag tone={toneOf(verdict)}>{verdict === '' ? role : `${role}: ${spaced(verdict)}`}</Tag>;
}

const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 10_000);

/** Age of an ISO 8601 time, with the whole time as its title. */
export function Ago({ at }: { readonly at: string }) {
  return timeAs(at, agoText(now.value - Date.parse(at)));
}

/** Time of day of an ISO 8601 time, with the date if it is not today. */
export function Clock({ at }: { readonly at: string }) {
  return timeAs(at, clockText(new Date(at), new Date(now.value)));
}

function timeAs(at: string, text: string) {
  return (
    <time dateTime={at} title={wholeTime(at)}>
      {text}
    </time>
  );
}

/** Formatters are created once, because creating one is slower than formatting a whole screen. */
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const TODAY = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const MINUTES = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const;
const THIS_YEAR = new Intl.DateTimeFormat('en-GB', MINUTES);
const OTHER_YEAR = new Intl.DateTimeFormat('en-GB', { ...MINUTES, year: '2-digit' });

/** Returns date and time, in the reader's time zone and in UTC. */
export function wholeTime(at: string): string {
  return `${WHOLE.format(Date.parse(at))}, in UTC ${at.slice(0, 19).replace('T', ' ')}`;
}

/** Returns `now`, `40 s ago`, `5 min ago`, `3 h ago` or `12 d ago`. */
function agoText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 5) return 'now';
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.round(hours / 24)} d ago`;
}

/** Returns `14:03:27`, or `12 Mar, 14:03` for another day. */
function clockText(time: Date, today: Date): string {
  if (time.toDateString() === today.toDateString()) return TODAY.format(time);
  return (time.getFullYear() === today.getFullYear() ? THIS_YEAR : OTHER_YEAR).format(time);
}

/** A terminal command, with a button that copies it. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="command">
      <code>{text}</code>
      <CopyButton text={text} />
    </div>
  );
}

export function CopyButton(props: { readonly text: string; readonly label?: string; readonly of?: string }) {
  const { text, label = 'Copy' } = props;
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
    <Button small of={props.of} onClick={() => void copy()}>
      {{ no: label, yes: 'Copied', failed: 'Not allowed' }[copied]}
    </Button>
  );
}

/** A text of a task or a note; a long one is folded to its first lines. */
export function LongText({ text }: { readonly text: string }) {
  const [open, setOpen] = useState(false);
  const long = text.length > 400 || text.split('\n').length > 6;
  return (
    <>
      <p class={`task-text ${long && !open ? 'task-text-folded' : ''}`}>{text}</p>
      {long ? (
        <div class="task-text-more">
          <Button small open={open} onClick={() => setOpen(!open)}>
            {open ? 'Show less' : 'Show all of it'}
          </Button>
        </div>
      ) : null}
    </>
  );
}
