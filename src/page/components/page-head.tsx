import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

/** The heading of a view; it names the window too. */
export function PageHead(props: {
  readonly title: string;
  /** What the window is called beside that, such as the session. */
  readonly of?: string;
  /** What stands beside the heading. */
  readonly children?: ComponentChildren;
}) {
  useEffect(() => {
    document.title = [props.title, props.of, 'Throughline'].filter((part) => part !== undefined).join(' · ');
  }, [props.title, props.of]);
  return (
    <div class="page-head">
      <h1 tabIndex={-1}>{props.title}</h1>
      {props.children}
    </div>
  );
}
