import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type AskError, me } from '../ask.js';
import { asAskError } from '../use-ask.js';
import { Button } from './fields.js';
import { ErrorBox } from './states.js';

/** True if this browser may change what a session knows. */
export function mayAct(): boolean {
  return me.value?.may.decide === true;
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
  readonly text?: string;
  readonly suggestions?: readonly string[] | undefined;
  readonly onSend: (text: string) => Promise<unknown>;
  readonly children?: ComponentChildren;
}) {
  const { label, verb, suggestions = [], onSend } = props;
  const [text, setText] = useState(props.text ?? '');
  const { busy, error, carryOut } = useWork();
  const send = async (message: string) => {
    if (message !== '' && (await carryOut(() => onSend(message)))) setText('');
  };
  return (
    <>
      <div class="send">
        {suggestions.map((suggestion) => (
          <Button key={suggestion} small disabled={busy} onClick={() => void send(suggestion)}>
            {suggestion}
          </Button>
        ))}
        <label class="field field-grow">
          <span class="field-label">{label}</span>
          <input
            type="text"
            value={text}
            autocomplete="off"
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && !busy) void send(text.trim());
            }}
          />
        </label>
        {props.children}
        <Button disabled={busy || text.trim() === ''} onClick={() => void send(text.trim())}>
          {verb}
        </Button>
      </div>
      {error === undefined ? null : <ErrorBox error={error} />}
    </>
  );
}

/** Shows buttons that act at once, or, with `confirm`, after a second click. */
export function Actions(props: {
  readonly actions: readonly {
    readonly verb: string;
    /** Second click: `Remove for good`. */
    readonly confirm?: string;
    readonly run: () => Promise<unknown>;
  }[];
}) {
  const [sure, setSure] = useState<string | undefined>(undefined);
  const { busy, error, carryOut } = useWork();
  const run = async (work: () => Promise<unknown>) => {
    setSure(undefined);
    await carryOut(work);
  };
  return (
    <>
      {props.actions.map(({ verb, confirm, run: work }) =>
        sure === verb ? (
          <span key={verb} class="actions">
            <Button small tone="bad" disabled={busy} onClick={() => void run(work)}>
              {confirm}
            </Button>
            <Button small onClick={() => setSure(undefined)}>
              No
            </Button>
          </span>
        ) : (
          <Button
            key={verb}
            small
            disabled={busy}
            onClick={() => (confirm === undefined ? void run(work) : setSure(verb))}
          >
            {verb}
          </Button>
        ),
      )}
      {error === undefined ? null : <ErrorBox error={error} />}
    </>
  );
}
