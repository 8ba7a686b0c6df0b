import type { ComponentChildren } from 'preact';

/** How something stands. The words say it; the colour only helps to find it. */
export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet';

/** A word or two about how something stands. */
export function Tag({
  tone = 'quiet',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) {
  return <span class={`tag tag-${tone}`}>{children}</span>;
}
