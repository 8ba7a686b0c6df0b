import type { ComponentChildren } from 'preact';
import { LongText } from '../components/long-text.js';
import { sessionHref } from '../route.js';

/** A task in a column of the session: its id, how it stands, what it is, and what more there is to say. */
export function TaskRow(props: {
  readonly session: string;
  readonly task: string;
  readonly tags: ComponentChildren;
  readonly text?: string;
  /** How many tasks it is a part of. */
  readonly depth?: number;
  readonly done?: boolean;
  readonly children?: ComponentChildren;
}) {
  const depth = Math.min(props.depth ?? 0, 4);
  return (
    <li class={`task-row depth-${depth} ${props.done === true ? 'task-done' : ''}`}>
      <div class="task-head">
        <a
          class="row-link mono one-line"
          data-row
          href={sessionHref(props.session, 'timeline', { task: props.task })}
          title={`Timeline of ${props.task}`}
        >
          {props.task}
        </a>
        <span class="task-tags">{props.tags}</span>
      </div>
      {props.text === undefined ? null : <LongText text={props.text} />}
      {props.children === undefined ? null : <div class="task-more quiet">{props.children}</div>}
    </li>
  );
}

/** The head of a column. */
export function ColumnHead(props: {
  readonly id: string;
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="card-head">
      <h2 id={props.id}>{props.title}</h2>
      <span class="quiet figure">{props.children}</span>
    </div>
  );
}
