import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import { options, render } from 'preact';
import { App } from './app.js';
import { loadMe } from './ask.js';
import { followClicks, followKeys } from './keys.js';
import { followLive } from './live.js';
import { followAddress } from './route.js';
import { showSigns } from './signs.js';

followAddress();
followKeys();
followClicks();
options.vnode = showSigns;
followLive();
void loadMe();
const root = document.getElementById('page');
if (root !== null) render(<App />, root);
