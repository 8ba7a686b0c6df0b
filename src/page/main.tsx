import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import { render } from 'preact';
import { App } from './app.js';
import { followKeys } from './keys.js';
import { followLive } from './live.js';
import { loadMe } from './me.js';
import { followAddress } from './route.js';
import { followTheme } from './theme.js';

followTheme();
followAddress();
followKeys();
followLive();
void loadMe();
const root = document.getElementById('page');
if (root !== null) render(<App />, root);
