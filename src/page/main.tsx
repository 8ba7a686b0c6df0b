import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import { render } from 'preact';
import { App } from './app.js';
import { loadMe } from './ask.js';
import { followKeys } from './keys.js';
import { followLive } from './live.js';
import { followAddress } from './route.js';

followAddress();
followKeys();
followLive();
void loadMe();
const root = document.getElementById('page');
if (root !== null) render(<App />, root);
