import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type AskError, unauthorized } from '../ask.js';
import { connection, reconnect } from '../live.js';
import type { Pages, QueryState } from '../use-ask.js';
import { COMMANDS, figure } from '../words.js';
import { Button, Command } from './fields.js';

/** Shows a reply, a loading message before it, and an error above the previous reply. */
export function QueryView<Reply>(props: {
  readonly query: QueryState<Reply>;
  /** The noun in the loading message: `sessions`. */
  readonly what: string;
  readonly children: (reply: Reply) => ComponentChildren;
}) {
  const { query } = props;
  return (
    <>
      {query.error === undefined || isInBanner(query.error) ? null : (
        <ErrorBox error={query.error} retry={query.refresh} />
      )}
      {/* It appears only after a moment, so that quick replies do not flicker. */}
      {query.loading ? (
        <p class="loading" role="status">
          Loading {props.what} …
        </p>
      ) : null}
      {query.reply === undefined ? null : props.children(query.reply)}
    </>
  );
}

/** True for a fault that the banner already names for the whole page. */
function isInBanner({ code }: AskError): boolean {
  return code === 'unauthorized' || (['offline', 'unavailable'].includes(code) && bannerText() !== undefined);
}

/** Says that the page may be out of date, and why. */
export function Banner() {
  const text = bannerText();
  return (
    <div role="status" aria-live="polite">
      {text === undefined ? null : (
        <div class="banner">
          <span>{text}</span>
          {connection.value === 'no-server' ? (
            <Button small onClick={reconnect}>
              Try now
            </Button>
          ) : null}
        </div>
      )}
    </div>
  );
}

/** Says what a person has done, where the view that showed it is left. */
export function say(text: string): void {
  banner.value = text;
  setTimeout(() => {
    if (banner.value === text) banner.value = undefined;
  }, 10_000);
}
const banner = signal<string | undefined>(undefined);

function bannerText(): string | undefined {
  if (unauthorized.value) {
    return `This browser has no valid token. Run "${COMMANDS.openPage()}", or open the URL that "${COMMANDS.up()}" printed last.`;
  }
  if (connection.value === 'no-server') {
    return `The inspector cannot be reached: is "${COMMANDS.up()}" still running? The page may be out of date; it reconnects by itself.`;
  }
  if (connection.value === 'no-nats') {
    return 'The inspector has lost its NATS server. The page may be out of date; it continues when the server is back.';
  }
  return banner.value;
}

/** Says why a list is empty, and what to do; `command` can be copied. */
export function Empty(props: {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly command?: string;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.children === undefined ? null : <div class="empty-text quiet">{props.children}</div>}
      {props.command === undefined ? null : <Command text={props.command} />}
    </div>
  );
}

export function ErrorBox({ error, retry }: { readonly error: AskError; readonly retry?: () => void }) {
  return (
    <div class="error-box" role="alert">
      <p>
        {error.message} <code class="bad">{error.code}</code>
      </p>
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

/** Shows how much of a list is loaded, and loads the next page. */
export function MoreButton(props: {
  readonly pages: Pick<Pages<unknown>, 'more' | 'loadingMore'>;
  readonly shown: number;
  readonly total: number | undefined;
}) {
  const { pages, shown, total } = props;
  const place = useRef<HTMLParagraphElement>(null);
  // The next page loads when the end comes near the screen.
  useEffect(() => {
    if (place.current === null || pages.more === undefined) return;
    const { more } = pages;
    const near = new IntersectionObserver(([seen]) => seen?.isIntersecting === true && more(), {
      rootMargin: '600px',
    });
    near.observe(place.current);
    return () => near.disconnect();
  }, [shown]);
  return (
    <p class="more" ref={place}>
      <span class="quiet figure">
        {figure(shown)}
        {total === undefined ? '' : ` of ${figure(total)}`}
      </span>
      {pages.more && (
        <Button small disabled={pages.loadingMore} onClick={pages.more}>
          Show more
        </Button>
      )}
    </p>
  );
}

/** Head of a card; the children are a count or a remark at its right. */
export function CardHead(props: {
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="card-head">
      <h2>{props.title}</h2>
      <span class="quiet figure">{props.children}</span>
    </div>
  );
}
