// What a page of the site does in the browser: search, light or dark, copies of code.
import MiniSearch from 'minisearch';
import { SEARCH } from './search-options.mjs';

const { root } = document.documentElement.dataset;
const form = document.querySelector('.search');
const input = form.querySelector('input');
const results = form.querySelector('.results');
let index;

/** The index, fetched with the first word that someone looks for. A script, so that it also works from files. */
function loadIndex() {
  index ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `${root}search-index.js`;
    script.onload = () => resolve(MiniSearch.loadJS(globalThis.searchIndex, SEARCH));
    script.onerror = () => reject(new Error(`${script.src} could not be loaded`));
    document.head.append(script);
  });
  return index;
}

async function search() {
  const query = input.value.trim();
  if (query === '') return close();
  const found = (await loadIndex()).search(query).slice(0, 12);
  if (query !== input.value.trim()) return;
  results.querySelector('[role=status]').textContent = found.length === 0 ? `Nothing has “${query}”.` : '';
  results.querySelector('ul').replaceChildren(...found.map((each) => itemOf(each, query)));
  results.hidden = false;
}

function itemOf({ id, page, title, text, terms }, query) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = root + id;
  const where = document.createElement('strong');
  where.textContent = page === title ? page : `${page} › ${title}`;
  const excerpt = document.createElement('span');
  const words = [query, ...terms.toSorted((a, b) => b.length - a.length)];
  excerpt.append(...excerptOf(text, words.map(escaped)));
  link.append(where, excerpt);
  item.append(link);
  return item;
}

/** The text around the first of the words that it has, with the words marked. */
function excerptOf(text, words) {
  const first = words.map((word) => text.search(atStart(word, 'iu'))).find((place) => place >= 0) ?? 0;
  const from = first < 60 ? 0 : text.lastIndexOf(' ', first - 40) + 1;
  const parts = text.slice(from, from + 160).split(atStart(words.join('|'), 'giu'));
  const marked = parts.map((part, at) => {
    if (at % 2 === 0) return part;
    const mark = document.createElement('mark');
    mark.textContent = part;
    return mark;
  });
  return [from > 0 ? '… ' : '', ...marked, text.length > from + 160 ? ' …' : ''];
}

/** Matches where a word begins with the pattern. */
function atStart(pattern, flags) {
  return new RegExp(`(?<![\\p{L}\\p{N}])(${pattern})`, flags);
}

function escaped(text) {
  return text.replace(/[/\-.*+?^${}()|[\]\\]/g, '\\$&');
}

function close() {
  results.hidden = true;
}

form.hidden = false;
input.addEventListener('input', search);
input.addEventListener('focus', search);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  results.querySelector('a')?.click();
});
form.addEventListener('click', (event) => {
  if (event.target.closest('a')) close();
});
form.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    close();
    input.blur();
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const stops = [input, ...results.querySelectorAll('a')];
  stops[stops.indexOf(document.activeElement) + step]?.focus();
  event.preventDefault();
});
document.addEventListener('click', (event) => {
  if (!form.contains(event.target)) close();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input')) return;
  event.preventDefault();
  input.focus();
});

const theme = document.querySelector('.theme');
theme.hidden = false;
theme.addEventListener('click', () => {
  const { dataset } = document.documentElement;
  const dark =
    dataset.theme === 'dark' || (!dataset.theme && matchMedia('(prefers-color-scheme: dark)').matches);
  dataset.theme = dark ? 'light' : 'dark';
  try {
    localStorage.setItem('theme', dataset.theme);
  } catch {
    // Without a store the choice holds for this page.
  }
});

for (const code of document.querySelectorAll(
  'main code[class^=language-]:not(.language-text, .language-diff)',
)) {
  if (navigator.clipboard === undefined) break;
  const button = document.createElement('button');
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = 'Copied';
  });
  const box = document.createElement('div');
  box.className = 'code';
  code.parentElement.replaceWith(box);
  box.append(code.parentElement, button);
}

const nav = document.querySelector('nav');
const here = nav.querySelector('[aria-current]');
if (here !== null) nav.scrollTop = here.offsetTop - nav.clientHeight / 2;
