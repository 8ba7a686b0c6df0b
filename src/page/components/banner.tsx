import { unauthorized } from '../ask.js';
import { connection, reconnect } from '../live.js';

/** Says when what is shown is no longer new, and why. */
export function Banner() {
  const text = bannerText();
  return (
    <div role="status" aria-live="polite">
      {text === undefined ? null : (
        <div class="banner">
          <span>{text}</span>
          {connection.value === 'no-server' ? (
            <button type="button" class="button button-small" onClick={reconnect}>
              Try now
            </button>
          ) : null}
        </div>
      )}
    </div>
  );
}

function bannerText(): string | undefined {
  if (unauthorized.value) {
    return 'This browser has no valid token: each start has a new one. Open the URL that `throughline up` printed last.';
  }
  if (connection.value === 'no-server') {
    return 'The inspector cannot be reached: is `throughline up` still running? What you see is the last that it sent; it is tried again by itself.';
  }
  if (connection.value === 'no-nats') {
    return 'The inspector has lost its NATS server. What you see may be old; it goes on when the server is back.';
  }
  return undefined;
}
