// The pages as a static site: README.md and what it leads to, files of the source as well, in the folder site or another
// one that is named.
import { cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import MiniSearch from 'minisearch';
import { rolldown } from 'rolldown';
import { licencesOf } from '../licences.mjs';
import { htmlOf } from './layout.mjs';
import { highlighted, linkGroups, readMarkdown } from './markdown.mjs';
import { SEARCH } from './search-options.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));
const OUT = process.argv[2] ?? join(ROOT, 'site');
const IMAGE = /\.(png|svg)$/;
const LISTED = 'docs/README.md';
const LANGUAGES = { '.ts': 'typescript', '.mjs': 'javascript', '.json': 'json', '.yaml': 'yaml' };

const { pages, images } = await readAll('README.md');
const nav = linkGroups(await readFile(join(ROOT, LISTED), 'utf8')).map(({ title, links }) => ({
  title,
  links: links.map(({ href, text }) => ({ target: targetOf(posix.join(posix.dirname(LISTED), href)), text })),
}));

await rm(OUT, { recursive: true, force: true });
for (const page of pages.values()) await write(page.target, htmlOf(page, nav));
for (const path of images) {
  await mkdir(dirname(join(OUT, path)), { recursive: true });
  await cp(join(ROOT, path), join(OUT, path));
}
await cp(join(HERE, 'site.css'), join(OUT, 'site.css'));
await write('search-index.js', `globalThis.searchIndex = ${JSON.stringify(indexOf([...pages.values()]))};\n`);
await bundleClient();
await write('LICENSES.txt', await licencesOf(['minisearch']));
console.log(
  `${pages.size} pages are in ${relative(process.cwd(), OUT) || '.'}: open index.html, or copy it to any web server`,
);

/** A page and all that it leads to. Throws where a link leads nowhere. */
async function readAll(first) {
  const pages = new Map();
  const images = new Set();
  const links = [];
  const found = new Set([first]);
  for (const path of found) {
    const link = (href) => {
      const [file, anchor] = href.split('#');
      const to = file === '' ? path : posix.join(posix.dirname(path), file);
      links.push({ path, href, to, anchor });
      found.add(to);
      const target = posix.relative(posix.dirname(targetOf(path)), targetOf(to));
      return anchor === undefined ? target : `${target}#${anchor}`;
    };
    if (!(await isFile(path))) continue;
    if (IMAGE.test(path)) images.add(path);
    else
      pages.set(path, {
        target: targetOf(path),
        ...pageOf(path, await readFile(join(ROOT, path), 'utf8'), link),
      });
  }
  const dead = links.filter(({ to, anchor }) => {
    if (anchor === undefined) return !pages.has(to) && !images.has(to);
    return !pages.get(to)?.headings.some(({ id }) => id === anchor);
  });
  if (dead.length > 0) {
    const lines = dead.map(({ path, href }) => `${path}: ${href}`);
    throw new Error(
      `These links lead to no file or heading; to a folder, link one of its files:\n${lines.join('\n')}`,
    );
  }
  return { pages, images };
}

function pageOf(path, text, link) {
  if (path.endsWith('.md')) return readMarkdown(text, link);
  const html = `<h1 class="path">${path}</h1>\n${highlighted(text, LANGUAGES[posix.extname(path)])}`;
  return { title: path, intro: `The file ${path} of the source.`, html, headings: [], sections: [] };
}

function indexOf(pages) {
  const index = new MiniSearch(SEARCH);
  for (const { target, title: page, sections } of pages)
    index.addAll(sections.map(({ id, ...section }) => ({ id: `${target}#${id}`, page, ...section })));
  return index;
}

/** The file of the site that shows a file of the repository. */
function targetOf(path) {
  if (IMAGE.test(path)) return path;
  if (posix.basename(path) === 'README.md') return posix.join(posix.dirname(path), 'index.html');
  return path.endsWith('.md') ? path.replace(/\.md$/, '.html') : `${path}.html`;
}

async function bundleClient() {
  const bundle = await rolldown({ input: join(HERE, 'client.mjs'), platform: 'browser', tsconfig: false });
  await bundle.write({ file: join(OUT, 'site.js'), format: 'iife', minify: true });
  await bundle.close();
}

async function isFile(path) {
  return (await stat(join(ROOT, path)).catch(() => undefined))?.isFile() === true;
}

async function write(path, text) {
  const file = join(OUT, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
