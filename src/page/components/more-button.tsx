import type { Pages } from '../use-pages.js';

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
