import { useState } from 'preact/hooks';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { type AskError, ask } from '../ask.js';
import { Clock, CopyButton, Pair, SelectField, Tag } from '../components/fields.js';
import { AskedView, ErrorBox } from '../components/states.js';
import { sessionHref, setParams, viewHref } from '../route.js';
import { me } from '../theme.js';
import { asAskError, useAsk } from '../use-ask.js';
import { ROLE_NAMES } from '../words.js';

/** One rejected result with its body; an operator may mend it and send it again, or remove it. */
export function RejectedPanel({ id, onGone }: { readonly id: number; readonly onGone: () => void }) {
  const asked = useAsk('tool.rejected-show', { id });
  const [done, setDone] = useState<
    { readonly dispatch: number; readonly session: string | undefined } | undefined
  >(undefined);
  return (
    <section class="card fact-panel" aria-label="The rejected result">
      <div class="card-head">
        <h2>Rejected result {id}</h2>
        <button
          type="button"
          class="button button-small"
          onClick={() => (done === undefined ? setParams({ id: undefined }) : onGone())}
        >
          Close
        </button>
      </div>
      <div class="rejected-body">
        {done === undefined ? (
          <AskedView asked={asked} what="the result">
            {(reply) => <Result reply={reply} onDone={setDone} onGone={onGone} />}
          </AskedView>
        ) : (
          <p role="status">
            <Tag tone="good">sent</Tag> It was published again as dispatch {done.dispatch}.{' '}
            {done.session === undefined ? null : (
              <a href={sessionHref(done.session, 'timeline')}>See what becomes of it</a>
            )}
          </p>
        )}
      </div>
    </section>
  );
}

function Result(props: {
  readonly reply: ToolReply<'rejected-show'>;
  readonly onDone: (done: { readonly dispatch: number; readonly session: string | undefined }) => void;
  readonly onGone: () => void;
}) {
  const { rejected, body, encoding, truncated } = props.reply;
  const may = me.value?.may.retry === true;
  const editable = may && encoding === 'utf8' && truncated !== true;
  const [text, setText] = useState(body);
  const [role, setRole] = useState<string>(rejected.meant ?? rejected.role ?? ROLE_NAMES[0]);
  const [busy, setBusy] = useState(false);
  const [sure, setSure] = useState(false);
  const [error, setError] = useState<AskError | undefined>(undefined);
  const carryOut = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (fault) {
      setError(asAskError(fault));
    }
    setBusy(false);
  };
  const retry = () =>
    carryOut(async () => {
      const chosen = ROLE_NAMES.find((each) => each === role);
      const sent = await ask('tool.rejected-retry', {
        id: rejected.id,
        ...(chosen !== undefined && chosen !== rejected.role && { role: chosen }),
        ...(editable && text !== body && { body: text }),
      });
      props.onDone({ dispatch: sent.dispatch, session: rejected.session });
    });
  const remove = () =>
    carryOut(async () => {
      await ask('tool.rejected-remove', { id: rejected.id });
      props.onGone();
    });
  return (
    <>
      <p class="rejected-reason">
        <Tag tone="bad">{rejected.code}</Tag> {rejected.reason}
      </p>
      {rejected.fix === undefined ? null : (
        <p class="fix">
          <strong>What would fix it:</strong> {rejected.fix}
        </p>
      )}
      {rejected.meant === undefined ? null : (
        <p class="fix">
          It reads like the result of a <strong>{rejected.meant}</strong>, but was published as that of a{' '}
          {rejected.role ?? 'stranger'}.
        </p>
      )}
      <dl class="pairs">
        <Pair name="Session">{rejected.session ?? 'none: the subject names none'}</Pair>
        <Pair name="Subject">{rejected.subject}</Pair>
        <Pair name="Dispatch">{String(rejected.sequence)}</Pair>
        <Pair name="Size">{`${rejected.bytes.toLocaleString('en')} bytes`}</Pair>
      </dl>
      <p class="origin-links">
        <span class="quiet">
          Arrived <Clock at={rejected.at} />
        </span>
        {rejected.session === undefined ? null : (
          <a
            class="button button-small"
            href={sessionHref(rejected.session, 'timeline', { kind: 'rejected' })}
          >
            In the timeline
          </a>
        )}
        {rejected.session === undefined ? null : (
          <a class="button button-small" href={viewHref('rejected', { session: rejected.session })}>
            Others of the session
          </a>
        )}
        <CopyButton text={body} label="Copy body" />
      </p>
      {truncated === true ? (
        <p class="quiet">
          Only the beginning is shown; `throughline result show {rejected.id}` has all of it.
        </p>
      ) : null}
      {encoding === 'base64' ? <p class="quiet">The body is not text: it is shown in base64.</p> : null}
      {error === undefined ? null : <ErrorBox error={error} />}
      {editable ? (
        <label class="field">
          <span class="field-label">Body; what you change here is sent in its place</span>
          <textarea spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <pre tabIndex={0}>{body}</pre>
      )}
      {may ? (
        <div class="proposal-actions">
          <SelectField
            label="Publish as"
            value={role}
            choices={ROLE_NAMES.map((value) => ({ value, label: value }))}
            onChoose={setRole}
          />
          <button type="button" class="button button-main" disabled={busy} onClick={() => void retry()}>
            {text === body ? 'Retry' : 'Retry with changes'}
          </button>
          {text === body ? null : (
            <button type="button" class="button" onClick={() => setText(body)}>
              Discard changes
            </button>
          )}
          {sure ? (
            <>
              <button type="button" class="button button-bad" disabled={busy} onClick={() => void remove()}>
                Remove for good
              </button>
              <button type="button" class="button" onClick={() => setSure(false)}>
                Keep it
              </button>
            </>
          ) : (
            <button type="button" class="button" disabled={busy} onClick={() => setSure(true)}>
              Remove
            </button>
          )}
        </div>
      ) : null}
    </>
  );
}
