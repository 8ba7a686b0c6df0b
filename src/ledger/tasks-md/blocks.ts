import MarkdownIt, { type Token } from 'markdown-it';

/**
 * The shape of the document: which lines are headings, list items, paragraphs, tables, code. Markdown decides this
 * and nothing else; what a line says is read from its text, since `[-]`, `[~]` and emoji are not Markdown.
 *
 * markdown-it runs its block rules only. mdast/micromark was measured first: 5,000 tasks took it 230 to 330 ms in a flat
 * list and 8 s in a nested one, against 10 to 80 ms here.
 */
export type Block = Container | Lines | Table;

export interface Container {
  readonly kind: 'root' | 'item' | 'quote';
  /** 0-based first line, and the line after the last. */
  readonly start: number;
  readonly end: number;
  /** The number an ordered list item shows, as CommonMark counts. */
  readonly ordinal?: number;
  readonly children: Block[];
}

export interface Lines {
  readonly kind: 'heading' | 'paragraph' | 'fence' | 'code' | 'html';
  readonly start: number;
  readonly end: number;
  /** 1 to 6 for a heading, else 0. */
  readonly level: number;
  /** Without the prefixes of the containers; further indentation is kept. */
  readonly lines: readonly string[];
}

export interface Table {
  readonly kind: 'table';
  readonly start: number;
  readonly end: number;
  readonly rows: { readonly line: number; readonly cells: string[] }[];
}

// A level is a list or an item: 400 allow 200 nested lists. What lies deeper is found as a stray line.
const markdown = new MarkdownIt({ html: true, maxNesting: 400 });
markdown.block.ruler.disable(['reference']);
markdown.core.ruler.enableOnly(['normalize', 'block']);

/** Reads the block structure. `lines` are those of `text`, split at CRLF, CR and LF. */
export function readBlocks(text: string, lines: readonly string[]): Container {
  const tokens = markdown.parse(text, {});
  const root: Container = { kind: 'root', start: 0, end: lines.length, children: [] };
  const builder = new TreeBuilder(root);
  tokens.forEach((token, index) => {
    builder.take(token, index, tokens);
  });
  root.children.push(...builder.strayLines(lines));
  return root;
}

class TreeBuilder {
  readonly #open: Container[];
  readonly #seen: Uint8Array;
  readonly #lists: (Numbering | undefined)[] = [];
  #table: Table | undefined;

  constructor(root: Container) {
    this.#open = [root];
    this.#seen = new Uint8Array(root.end);
  }

  take(token: Token, index: number, tokens: readonly Token[]): void {
    switch (token.type) {
      case 'bullet_list_open':
        this.#lists.push(undefined);
        return;
      case 'ordered_list_open':
        this.#lists.push(numbering(token, index, tokens));
        return;
      case 'bullet_list_close':
      case 'ordered_list_close':
        this.#lists.pop();
        return;
      case 'list_item_open':
        this.#enter('item', token, nextOrdinal(token, this.#lists.at(-1)));
        return;
      case 'blockquote_open':
        this.#enter('quote', token, undefined);
        return;
      case 'list_item_close':
      case 'blockquote_close':
        this.#open.pop();
        return;
      case 'table_open':
        this.#table = { kind: 'table', ...this.#range(token), rows: [] };
        this.#add(this.#table);
        return;
      case 'table_close':
        this.#table = undefined;
        return;
      case 'tr_open': {
        const { start = 0, rows } = this.#table ?? {};
        // The delimiter row stands between the head and the first row of the body.
        rows?.push({ line: start + (rows.length === 0 ? 0 : rows.length + 1), cells: [] });
        return;
      }
      case 'inline': {
        if (this.#table !== undefined) {
          this.#table.rows.at(-1)?.cells.push(token.content);
          return;
        }
        const opener = tokens[index - 1];
        const level = opener?.type === 'heading_open' ? Number(opener.tag.slice(1)) : 0;
        this.#addLines(level > 0 ? 'heading' : 'paragraph', token, level);
        return;
      }
      case 'fence':
        this.#addLines('fence', token, 0);
        return;
      case 'code_block':
        this.#addLines('code', token, 0);
        return;
      case 'html_block':
        this.#addLines('html', token, 0);
        return;
    }
  }

  /** Lines that no block holds and that may be boxes: they lie beyond the greatest depth of nesting. */
  strayLines(lines: readonly string[]): Lines[] {
    return lines.flatMap((line, at) =>
      this.#seen[at] === 1 || !/[[［【]/.test(line)
        ? []
        : [{ kind: 'paragraph' as const, start: at, end: at + 1, level: 0, lines: [line] }],
    );
  }

  #enter(kind: 'item' | 'quote', token: Token, ordinal: number | undefined): void {
    const container: Container = {
      kind,
      ...this.#range(token),
      ...(ordinal !== undefined && { ordinal }),
      children: [],
    };
    this.#open.at(-1)?.children.push(container);
    this.#open.push(container);
  }

  #addLines(kind: Lines['kind'], token: Token, level: number): void {
    const content =
      kind === 'paragraph' || kind === 'heading' ? token.content : token.content.replace(/\n$/, '');
    this.#add({ kind, ...this.#range(token), level, lines: content.split('\n') });
  }

  #add(block: Block): void {
    this.#open.at(-1)?.children.push(block);
    this.#seen.fill(1, block.start, block.end);
  }

  #range({ map }: Token): { start: number; end: number } {
    const [start, end] = map ?? [0, 0];
    return { start, end };
  }
}

interface Numbering {
  next: number;
  /** Whether the numbers count as written. */
  readonly asWritten: boolean;
}

/** Authors number `1. 1. 1.` as well as `1. 2. 5.`: the written numbers count unless two of them are equal. */
function numbering(list: Token, from: number, tokens: readonly Token[]): Numbering {
  const written: string[] = [];
  for (let at = from + 1; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined || (token.type === 'ordered_list_close' && token.level === list.level)) break;
    if (token.type === 'list_item_open' && token.level === list.level + 1) written.push(token.info);
  }
  return { next: Number(list.attrGet('start') ?? 1), asWritten: new Set(written).size === written.length };
}

function nextOrdinal(item: Token, list: Numbering | undefined): number | undefined {
  if (list === undefined) return undefined;
  const ordinal = list.asWritten ? Number(item.info) : list.next;
  list.next += 1;
  return ordinal;
}
