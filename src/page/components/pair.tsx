import type { ComponentChildren } from 'preact';

/** One name with its value, within `dl class="pairs"`. */
export function Pair({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
