// A page of Markdown, as GitHub shows it: the same anchors, and links between files.
import hljs from 'highlight.js/lib/common';
import nginx from 'highlight.js/lib/languages/nginx';
import MarkdownIt from 'markdown-it';

hljs.registerLanguage('nginx', nginx);

const markdown = new MarkdownIt({ highlight: highlighted });
const { renderer } = markdown;
renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
renderer.rules.table_close = () => '</table></div>\n';
renderer.rules.heading_close = (tokens, at) => {
  const { id, text } = tokens[at - 2].meta;
  const link = `<a class="anchor" href="#${id}" aria-label="Link to ${markdown.utils.escapeHtml(text)}">#</a>`;
  return `${tokens[at].tag === 'h1' ? '' : link}</${tokens[at].tag}>\n`;
};

/** Code as HTML, coloured where its language is known. */
export function highlighted(code, language) {
  const known = hljs.getLanguage(language) !== undefined;
  const html = known ? hljs.highlight(code, { language }).value : markdown.utils.escapeHtml(code);
  return `<pre tabindex="0"><code class="language-${known ? language : 'text'}">${html}</code></pre>`;
}

/**
 * Reads a page. `linked` gets each link to a file or a heading, and gives the one of the site in its place.
 * The answer has the page's title, its first paragraph, its HTML, its headings and what search knows of each section.
 */
export function readMarkdown(text, linked) {
  const tokens = markdown.parse(text, {});
  const taken = new Map();
  const headings = [];
  const sections = [];
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const title = plain(tokens[at + 1]);
      const id = anchor(title, taken);
      token.attrSet('id', id);
      token.meta = { id, text: title };
      headings.push({ id, level: Number(token.tag.slice(1)), text: title });
      sections.push({ id, title, texts: [] });
    } else if (token.type === 'inline' && tokens[at - 1].type !== 'heading_open') {
      sections.at(-1)?.texts.push(plain(token));
    } else if (token.type === 'fence') {
      sections.at(-1)?.texts.push(token.content);
    }
    const [first] = token.children ?? [];
    if (first?.type === 'text')
      first.content = first.content.replace(/^\[ \] /, '☐ ').replace(/^\[x\] /, '☑ ');
    for (const child of token.children ?? []) {
      for (const name of ['href', 'src']) {
        const link = child.attrGet(name);
        if (link !== null && !/^https?:/.test(link)) child.attrSet(name, linked(link));
      }
    }
  }
  return {
    title: headings[0]?.text ?? '',
    intro: plain(
      tokens.find(({ type }, at) => type === 'inline' && tokens[at - 1].type === 'paragraph_open'),
    ),
    html: renderer.render(tokens, markdown.options, {}),
    headings,
    sections: sections.map(({ id, title, texts }) => ({
      id,
      title,
      text: texts.join(' ').replace(/\s+/g, ' '),
    })),
  };
}

/** Groups of links of a page, each under its heading, in their order. */
export function linkGroups(text) {
  const groups = [];
  const tokens = markdown.parse(text, {});
  for (const [at, token] of tokens.entries()) {
    if (token.type !== 'inline') continue;
    if (tokens[at - 1].tag === 'h2') groups.push({ title: plain(token), links: [] });
    for (const [index, child] of token.children.entries()) {
      if (child.type !== 'link_open') continue;
      groups.at(-1)?.links.push({ href: child.attrGet('href'), text: token.children[index + 1].content });
    }
  }
  return groups.filter(({ links }) => links.length > 0);
}

/** The text of a line without its marks. */
function plain(inline) {
  return (inline?.children ?? [])
    .map(({ type, content }) => (type === 'softbreak' || type === 'hardbreak' ? ' ' : content))
    .join('');
}

/** The anchor that GitHub gives a heading; a second one of the same words gets a number. */
function anchor(heading, taken) {
  const id = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
  const before = taken.get(id) ?? 0;
  taken.set(id, before + 1);
  return before === 0 ? id : `${id}-${before}`;
}
