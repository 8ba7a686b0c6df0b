import { useEffect, useState } from 'preact/hooks';
import { asAskError } from '../use-ask.js';
import { failed, takeBack, waiting } from './decisions.js';

/** What was decided and can still be taken back, with the seconds that are left. */
export function UndoBar({ onUndo }: { readonly onUndo: (id: string) => void }) {
  const last = waiting.value.at(-1);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (last === undefined) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [last]);
  const fault = failed.value;
  const undo = () => {
    const id = takeBack();
    if (id !== undefined) onUndo(id);
  };
  return (
    <div class="undo-place">
      {/* The seconds are not read out: they would drown everything else. */}
      <div role="status" class="visually-hidden">
        {last === undefined ? '' : `${last.said}: ${last.text}. Press u to undo.`}
      </div>
      {last === undefined ? null : (
        <div class="undo-bar">
          <span class="one-line">
            <strong>{last.said}:</strong> {last.text}
          </span>
          {waiting.value.length > 1 ? <span class="quiet figure">{waiting.value.length} waiting</span> : null}
          <button type="button" class="button button-small" onClick={undo}>
            Undo <kbd>u</kbd>{' '}
            <span class="figure undo-seconds" aria-hidden="true">
              {Math.max(0, Math.ceil((last.due - now) / 1000))} s
            </span>
          </button>
        </div>
      )}
      {fault === undefined ? null : (
        <div class="undo-bar undo-failed" role="alert">
          <span>
            Not decided: {fault.text}. {asAskError(fault.error).message}
          </span>
          <button type="button" class="button button-small" onClick={() => (failed.value = undefined)}>
            Close
          </button>
        </div>
      )}
    </div>
  );
}
