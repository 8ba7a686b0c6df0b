import './styles/base.css';
import { render } from 'preact';

function Page() {
  return <h1>Throughline</h1>;
}

const root = document.getElementById('page');
if (root !== null) render(<Page />, root);
