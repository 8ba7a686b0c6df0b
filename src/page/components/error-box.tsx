import type { AskError } from '../ask.js';

/** Why something could not be shown, and a way to try again. */
export function ErrorBox({ error, retry }: { readonly error: AskError; readonly retry?: () => void }) {
  return (
    <div class="error-box" role="alert">
      <p>
        {error.message} <code class="error-code">{error.code}</code>
      </p>
      {retry === undefined ? null : (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
