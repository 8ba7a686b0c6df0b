import type { ComponentChildren } from 'preact';
import { type AskError, unauthorized } from '../ask.js';
import { connection, reconnect } from '../live.js';
import type { AskedReply } from '../use-ask.js';
import type { Pages } from '../use-pages.js';
import { Command } from './fields.js';

/** Shows a reply; before it came, that it is on its way; after a failure, why, above what was there before. */
export function AskedView<Reply>(props: {
  readonly asked: AskedReply<Reply>;
  /** What is loaded, in words: `sessions`. */
  readonly what: string;
  readonly children: (reply: Reply) => ComponentChildren;
}) {
  const { asked } = props;
  return (
    <>
      {asked.error === undefined ? null : <ErrorBox error={asked.error} retry={asked.refresh} />}
      {asked.loading ? <Loading what={props.what} /> : null}
      {asked.reply === undefined ? null : props.children(asked.reply)}
    </>
  );
}

/** Says when what is shown is no longer new, and why. */
export function Banner() {
  const text = bannerText();
  return (
    <div role="status" aria-live="polite">
      {text === undefined ? null : (
        <div class="banner">
          <span>{text}</span>
          {connection.value === 'no-server' ? (
            <button type="button" class="button button-small" onClick={reconnect}>
              Try now
            </button>
          ) : null}
        </div>
      )}
    </div>
  );
}

function bannerText(): string | undefined {
  if (unauthorized.value) {
    return 'This browser has no valid token: each start has a new one. Open the URL that `throughline up` printed last.';
  }
  if (connection.value === 'no-server') {
    return 'The inspector cannot be reached: is `throughline up` still running? What you see is the last that it sent; it is tried again by itself.';
  }
  if (connection.value === 'no-nats') {
    return 'The inspector has lost its NATS server. What you see may be old; it goes on when the server is back.';
  }
  return undefined;
}

/** Where there is nothing to show: why, and what to do. */
export function Empty(props: {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** A command that changes it, to be copied. */
  readonly command?: string;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.children === undefined ? null : <div class="empty-text">{props.children}</div>}
      {props.command === undefined ? null : <Command text={props.command} />}
    </div>
  );
}

/** While the first reply is on its way. It shows only after a moment, so that quick replies do not flicker. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what} …
    </p>
  );
}

/** Why something could not be shown, and a way to try again. */
export function ErrorBox({ error, retry }: { readonly error: AskError; readonly retry?: () => void }) {
  return (
    <div class="error-box" role="alert">
      <p>
        {error.message} <code class="error-code">{error.code}</code>
      </p>
      {retry === undefined ? null : (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Asks for the next page of a list, and says how much of it is shown. */
export function MoreButton(props: {
  readonly pages: Pick<Pages<unknown>, 'more' | 'loadingMore'>;
  readonly shown: number;
  readonly total: number | undefined;
}) {
  const { pages, shown, total } = props;
  return (
    <p class="more">
      <span class="quiet figure">
        {shown.toLocaleString('en')}
        {total === undefined ? '' : ` of ${total.toLocaleString('en')}`}
      </span>
      {pages.more === undefined ? null : (
        <button type="button" class="button button-small" disabled={pages.loadingMore} onClick={pages.more}>
          Show more
        </button>
      )}
    </p>
  );
}
