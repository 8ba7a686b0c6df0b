import { useState } from 'preact/hooks';

/** Characters and lines from which on a text is folded. */
const LONG = 400;
const LINES = 6;

/** A text of a task or a note; a long one shows its first lines, and the rest on demand. */
export function LongText({ text }: { readonly text: string }) {
  const [open, setOpen] = useState(false);
  const long = text.length > LONG || text.split('\n').length > LINES;
  return (
    <>
      <p class={`task-text ${long && !open ? 'task-text-folded' : ''}`}>{text}</p>
      {long ? (
        <button
          type="button"
          class="button button-small task-text-more"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open ? 'Show less' : 'Show all of it'}
        </button>
      ) : null}
    </>
  );
}
