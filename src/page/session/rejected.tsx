import { useState } from 'preact/hooks';
import type { ToolReply } from '../../contracts/requests.js';
import type { RejectedShown } from '../../contracts/result-requests.js';
import { visible } from '../../shared/terminal-text.js';
import { ask } from '../ask.js';
import { Actions, mayAct } from '../components/act.js';
import { Ago, Button, ButtonLink, Clock, CopyButton, Pair, SelectField, Tag } from '../components/fields.js';
import { QueryView } from '../components/states.js';
import { route, sessionHref } from '../route.js';
import { useAsk } from '../use-ask.js';
import { ROLE_NAMES } from '../words.js';
import { Need } from './needs-list.js';

interface Sent {
  readonly dispatch: number;
  readonly session: string | undefined;
}

/** A rejected result among what needs a person; it opens in place, where an operator edits and sends it again, or removes it. */
export function RejectedNeed({ rejected }: { readonly rejected: RejectedShown }) {
  const { id, session, role, reason, code, at } = rejected;
  const [open, setOpen] = useState(false);
  return (
    <Need
      tone="bad"
      tag="rejected"
      of={
        session === undefined || session === route.value.session ? null : (
          <a href={sessionHref(session)}>{session}</a>
        )
      }
      text={reason}
    >
      <div class="remarks quiet small">
        <span>{role ?? rejected.subject}</span>
        <code>{code}</code>
        <Ago at={at} />
        <Button small open={open} of={reason} onClick={() => setOpen(!open)}>
          {open ? 'Close' : 'Open'}
        </Button>
      </div>
      {open ? <RejectedPanel id={id} /> : null}
    </Need>
  );
}

function RejectedPanel({ id }: { readonly id: number }) {
  const query = useAsk('tool.rejected-show', { id });
  const [done, setDone] = useState<Sent | 'removed' | undefined>(undefined);
  return (
    <section class="details rejected-body" aria-label="The rejected result">
      {done === undefined ? (
        <QueryView query={query} what="the result">
          {(reply) => <Result reply={reply} onSent={setDone} onGone={() => setDone('removed')} />}
        </QueryView>
      ) : (
        <p role="status">
          {done === 'removed' ? (
            'It is removed.'
          ) : (
            <>
              <Tag tone="good">sent</Tag> It was published again as result {done.dispatch}.{' '}
              {done.session === undefined ? null : (
                <a href={sessionHref(done.session, 'timeline')}>See it in the timeline</a>
              )}
            </>
          )}
        </p>
      )}
    </section>
  );
}

function Result(props: {
  readonly reply: ToolReply<'rejected-show'>;
  readonly onSent: (sent: Sent) => void;
  readonly onGone: () => void;
}) {
  const { rejected, body, encoding, truncated } = props.reply;
  const of = rejected.reason;
  const may = mayAct();
  const editable = may && encoding === 'utf8' && truncated !== true;
  const [text, setText] = useState(body);
  const [role, setRole] = useState<string>(rejected.meant ?? rejected.role ?? ROLE_NAMES[0]);
  const retry = async () => {
    const chosen = ROLE_NAMES.find((name) => name === role);
    const sent = await ask('tool.rejected-retry', {
      id: rejected.id,
      ...(chosen !== undefined && chosen !== rejected.role && { role: chosen }),
      ...(editable && text !== body && { body: text }),
    });
    props.onSent({ dispatch: sent.dispatch, session: rejected.session });
  };
  const remove = async () => {
    await ask('tool.rejected-remove', { id: rejected.id });
    props.onGone();
  };
  return (
    <>
      {rejected.fix === undefined ? null : (
        <p class="evidence">
          <strong>Fix:</strong> {rejected.fix}
        </p>
      )}
      {rejected.meant === undefined ? null : (
        <p class="evidence">
          Its role looks like <strong>{rejected.meant}</strong>, but it was published for{' '}
          {rejected.role === undefined ? 'no known role' : `the ${rejected.role}`}.
        </p>
      )}
      <dl class="pairs">
        <Pair name="Session">{rejected.session ?? 'none: the subject names none'}</Pair>
        <Pair name="Subject">{rejected.subject}</Pair>
        <Pair name="Result">{String(rejected.sequence)}</Pair>
      </dl>
      <p class="actions">
        <span class="quiet">
          Arrived <Clock at={rejected.at} />
        </span>
        {rejected.session === undefined ? null : (
          <ButtonLink href={sessionHref(rejected.session, 'timeline', { kind: 'rejected' })}>
            In the timeline
          </ButtonLink>
        )}
        <CopyButton text={body} label="Copy body" of={of} />
      </p>
      {truncated === true ? (
        <p class="quiet">
          Only the beginning is shown: the whole is message {rejected.sequence} of the stream DISPATCH.
        </p>
      ) : null}
      {encoding === 'base64' ? <p class="quiet">The body is not text: it is shown in base64.</p> : null}
      {editable && visible(text) === text ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
        <pre tabIndex={0}>{text}</pre>
      )}
      {editable ? (
        <label class="field">
          <span class="field-label">Body; a retry sends your changes</span>
          <textarea
            aria-label={`Body: ${of}`}
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
      ) : null}
      {may ? (
        <div class="actions">
          <SelectField
            label="Publish as"
            of={of}
            value={role}
            choices={ROLE_NAMES.map((value) => ({ value, label: value }))}
            onChoose={setRole}
          />
          <Actions
            of={of}
            actions={[
              { verb: text === body ? 'Retry' : 'Retry with changes', tone: 'main', run: retry },
              ...(text === body ? [] : [{ verb: 'Discard changes', run: async () => setText(body) }]),
              { verb: 'Remove', cost: 'It cannot be undone.', run: remove },
            ]}
          />
        </div>
      ) : null}
    </>
  );
}
