import type { ComponentChildren } from 'preact';
import type { AskedReply } from '../use-ask.js';
import { Loading } from './empty.js';
import { ErrorBox } from './error-box.js';

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
