import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import { h, options, render, type VNode } from 'preact';
import { visible } from '../shared/terminal-text.js';
import { App } from './app.js';
import { keepToken, loadMe } from './ask.js';
import { followClicks, followKeys, keepFocus } from './keys.js';
import { followLive } from './live.js';
import { followAddress } from './route.js';

/** Ignores most texts cheaply. */
const PLAIN = /^[\t\n -~]*$/;

keepToken();
followAddress();
followKeys();
followClicks();
keepFocus();
options.vnode = showSigns;
followLive();
void loadMe();
const root = document.getElementById('page');
if (root !== null) render(<App />, root);

/**
 * Prepares the texts of every element before it is shown: text is read in its own direction, and signs that are invisible or
 * change the direction are shown as the command line shows them, so that nobody decides on another text than the stored one.
 */
function showSigns({ type, props }: VNode): void {
  if (typeof type !== 'string') return;
  const attributes = props as Record<string, unknown>;
  for (const name of ['children', 'title', 'aria-label']) {
    const value = attributes[name];
    if (typeof value === 'string') {
      if (PLAIN.test(value)) continue;
      attributes[name] = visible(value);
    } else if (name === 'children' && Array.isArray(value) && value.some(isMarked)) {
      // Beside other parts, a text is isolated: it must not turn their order.
      attributes.children = value.map((part) => (isMarked(part) ? h('bdi', null, part) : part));
      continue;
    } else continue;
    attributes.dir ??= 'auto';
  }
}

function isMarked(part: unknown): part is string {
  return typeof part === 'string' && !PLAIN.test(part);
}
