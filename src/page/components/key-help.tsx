import { Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { bound, type KeyBinding } from '../keys.js';

/** All keys that do something now. */
export function KeyHelp({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="key-help-title" onClose={onClose}>
      <div class="dialog-head">
        <h2 id="key-help-title">Keys</h2>
        <button type="button" class="button button-small" onClick={onClose}>
          Close
        </button>
      </div>
      <dl class="keys">
        {bound.value
          .flat()
          .filter(isFirst)
          .map(({ keys, does }) => (
            <Fragment key={does}>
              <dt>
                {keys.map((each, index) => (
                  <Fragment key={each}>
                    {index === 0 ? null : <span class="quiet"> or </span>}
                    {each.split(' ').map((key) => (
                      <kbd key={key}>{KEY_NAMES[key] ?? key}</kbd>
                    ))}
                  </Fragment>
                ))}
              </dt>
              <dd>{does}</dd>
            </Fragment>
          ))}
      </dl>
    </dialog>
  );
}

const KEY_NAMES: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  Escape: 'Esc',
  PageDown: 'Page ↓',
  PageUp: 'Page ↑',
};

/** A view may bind what the page binds too: then only its own counts. */
function isFirst(binding: KeyBinding, index: number, all: readonly KeyBinding[]): boolean {
  return all.findIndex(({ keys }) => keys.some((key) => binding.keys.includes(key))) === index;
}
