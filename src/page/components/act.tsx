import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type AskError, me } from '../ask.js';
import { route } from '../route.js';
import { asAskError } from '../use-ask.js';
import { Button } from './fields.js';
import { ErrorBox } from './states.js';

/** The newest session that was seen archived: it refuses every change. */
export const archivedSession = signal<string | undefined>(undefined);

/** True if this browser may change what the session knows. */
export function mayAct(): boolean {
  return me.value?.decides === true && archivedSession.value !== (route.value.session ?? '');
}

/** The name that is recorded with what a person does on the page. */
export function actor(): string | undefined {
  return me.value?.user;
}

/** Carries out one request at a time, and keeps the error of the newest. */
export function useWork() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<AskError | undefined>(undefined);
  const carryOut = async (work: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    const fault = await work().then(
      () => undefined,
      (reason: unknown) => asAskError(reason),
    );
    setBusy(false);
    setError(fault);
    return fault === undefined;
  };
  return { busy, error, carryOut };
}

/** A text that a person sends with Enter or the button; each suggestion is sent with one click. */
export function SendForm(props: {
  readonly label: string;
  readonly verb: string;
  /** Names the subject for a screen reader, which reads the labels one by one. */
  readonly of?: string | undefined;
  readonly text?: string;
  /** Several lines, sent with Ctrl+Enter or the button. */
  readonly long?: boolean;
  /** Each label with the text that its button sends. Beside the buttons, the label stands in the field. */
  readonly suggestions?: readonly (readonly string[])[];
  readonly onSend: (text: string) => Promise<unknown>;
  /** A changed `text` that was not sent yet. */
  readonly draft?: string | undefined;
  /** Called with each draft; empty for none. */
  readonly onDraft?: (draft: string) => void;
  readonly children?: ComponentChildren;
}) {
  const { label, verb, of, suggestions, onSend } = props;
  const [text, setText] = useState(props.draft || (props.text ?? ''));
  const { busy, error, carryOut } = useWork();
  const send = async (message: string) => {
    if (message !== '' && (await carryOut(() => onSend(message)))) setText('');
  };
  /** False for nothing, and for the text that was there. */
  const isNew = text.trim() !== '' && text.trim() !== props.text?.trim();
  useEffect(() => props.onDraft?.(isNew ? text : ''), [text]);
  const field = {
    value: text,
    dir: 'auto' as const,
    placeholder: suggestions && label,
    'aria-label': of === undefined ? undefined : `${label}: ${of}`,
    onInput: (event: Event & { readonly currentTarget: { readonly value: string } }) =>
      setText(event.currentTarget.value),
    onKeyDown: (event: KeyboardEvent) => {
      const sends = event.key === 'Enter' && !event.isComposing && (props.long !== true || event.ctrlKey);
      if (sends && !busy && isNew) void send(text.trim());
    },
  };
  return (
    <>
      <div class="send">
        {suggestions?.map(([name = '', value = name]) => (
          <Button key={name} small of={of} disabled={busy} onClick={() => void send(value)}>
            {name}
          </Button>
        ))}
        {/* biome-ignore lint/a11y/noLabelWithoutControl: it is one of these two. */}
        <label class="field field-grow">
          <span class={suggestions ? 'visually-hidden' : 'field-label'}>{label}</span>
          {props.long === true ? <textarea {...field} rows={3} /> : <input {...field} autocomplete="off" />}
        </label>
        {props.children}
        <Button of={of} disabled={busy || !isNew} onClick={() => void send(text.trim())}>
          {busy ? `${verb} …` : verb}
        </Button>
      </div>
      {error === undefined ? null : <ErrorBox error={error} />}
    </>
  );
}

export interface Action {
  readonly verb: string;
  /** What it costs, or what undoes it: shown before it is carried out, with a button of its own. */
  readonly cost?: string;
  /** Asks for a text first. */
  readonly asks?: string;
  readonly tone?: 'main';
  readonly run: (text: string) => Promise<unknown>;
}

/**
 * Buttons that act at once, or after a question below them: the button that answers it is never where the first click was.
 * `followClicks` drops the second click of a double click.
 */
export function Actions({ actions, of }: { readonly actions: readonly Action[]; readonly of?: string }) {
  const [asking, setAsking] = useState<string | undefined>(undefined);
  const { busy, error, carryOut } = useWork();
  const run = async (work: () => Promise<unknown>) => {
    if (await carryOut(work)) setAsking(undefined);
  };
  const chosen = actions.find(({ verb }) => verb === asking);
  return (
    <>
      {actions.map(({ verb, cost, asks, tone, run: work }) => {
        const isPlain = cost === undefined && asks === undefined;
        return (
          <Button
            key={verb}
            small
            {...{ of, tone }}
            disabled={busy}
            open={isPlain ? undefined : asking === verb}
            onClick={() => (isPlain ? void run(() => work('')) : setAsking(verb))}
          >
            {verb}
          </Button>
        );
      })}
      {chosen === undefined ? null : (
        <fieldset class="asked" aria-label={`${chosen.verb}?`}>
          {chosen.cost === undefined ? null : <p>{chosen.cost}</p>}
          {chosen.asks === undefined ? (
            <Button small tone="bad" of={of} disabled={busy} onClick={() => void run(() => chosen.run(''))}>
              Yes, {chosen.verb.toLowerCase()}
            </Button>
          ) : (
            <SendForm
              label={chosen.asks}
              verb={chosen.verb}
              of={of}
              onSend={(text) => run(() => chosen.run(text))}
            />
          )}
          <Button small onClick={() => setAsking(undefined)}>
            No
          </Button>
        </fieldset>
      )}
      {error === undefined ? null : <ErrorBox error={error} />}
    </>
  );
}
