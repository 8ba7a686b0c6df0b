import type { ComponentChildren } from 'preact';
import { Command } from './command.js';

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
