import { posix } from 'node:path';

/** The HTML of a page of the site. Links are relative, so that the site works from any folder of any host. */
export function htmlOf(page, nav) {
  const root = posix.relative(posix.dirname(page.target), '.') || '.';
  const to = (target) => `${root}/${target}`;
  const order = nav.flatMap(({ links }) => links);
  const at = order.findIndex(({ target }) => target === page.target);
  const [before, after] = at < 0 ? [] : [order[at - 1], order[at + 1]];
  const outline = page.headings.filter(({ level }) => level === 2 || level === 3);
  return `<!doctype html>
<html lang="en" data-root="${root}/">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escaped(page.intro)}">
<title>${page.title === 'Throughline' ? '' : `${escaped(page.title)} · `}Throughline</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${to('site.css')}">
<script>try { document.documentElement.dataset.theme = localStorage.getItem('theme') ?? ''; } catch {}</script>
<script defer src="${to('site.js')}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header>
  <button class="menu" popovertarget="nav" aria-label="All pages">☰</button>
  <a class="home" href="${to('index.html')}">Throughline</a>
  <form class="search" role="search" hidden>
    <input type="search" placeholder="Search" aria-label="Search the pages" autocomplete="off" spellcheck="false">
    <kbd>/</kbd>
    <div class="results" hidden><p role="status"></p><ul></ul></div>
  </form>
  <button class="theme" aria-label="Light or dark" hidden>◐</button>
</header>
<div class="columns">
<nav id="nav" popover aria-label="Pages">
${nav.map((group) => groupOf(group, page, to)).join('\n')}
</nav>
<main id="content">
${page.html}
${before || after ? `<p class="onward">${onward('Previous', before, to)}${onward('Next', after, to)}</p>` : ''}
</main>
${outline.length > 1 ? outlineOf(outline) : ''}
</div>
</body>
</html>
`;
}

function groupOf({ title, links }, page, to) {
  const items = links.map(({ target, text }) => {
    const here = target === page.target ? ' aria-current="page"' : '';
    return `<li><a href="${to(target)}"${here}>${escaped(text)}</a></li>`;
  });
  return `<h2>${escaped(title)}</h2>\n<ul>${items.join('')}</ul>`;
}

function outlineOf(headings) {
  const items = headings.map(
    ({ id, level, text }) => `<li class="level-${level}"><a href="#${id}">${escaped(text)}</a></li>`,
  );
  return `<aside aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></aside>`;
}

function onward(word, link, to) {
  if (link === undefined) return '';
  return `<a href="${to(link.target)}"><small>${word}</small> ${escaped(link.text)}</a>`;
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
