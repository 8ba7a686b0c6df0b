import { isDeepStrictEqual } from 'node:util';
import { parse, type TomlTable } from 'smol-toml';
import { messageOf, type ThroughlineError } from '../../contracts/errors.js';
import { isObject } from '../../shared/text.js';
import { eolOf, unusable } from './json-entries.js';

/*
 * Our lines in a TOML or Markdown file are one block of text at its end, between two marker lines. Each edit of TOML is verified:
 * everything outside the block must parse to the same values as before.
 */
const BEGIN_MARK = '>>> throughline';
const BEGIN = `${BEGIN_MARK}: written by "throughline connect"; --remove takes it out`;
const END = '<<< throughline';

export interface MarkdownBlock {
  readonly text: string;
}

export interface TomlBlock extends MarkdownBlock {
  readonly isOurs: (header: string) => boolean;
  /** Lines that depend on where it was written. */
  readonly varies: RegExp;
}

/** Returns the text with the block at its end. Throws `config_invalid` if it is not TOML, or has our tables in another form. */
export function withBlock(text: string, block: TomlBlock | MarkdownBlock, name: string): string {
  if (blockIn(text)?.inside.trim().split(/\r?\n/).join('\n') === block.text.trim()) return text;
  const rest = withoutBlock(text, block, name);
  const eol = eolOf(text);
  const isToml = 'isOurs' in block;
  const mark = (line: string) => (isToml ? `# ${line}` : `<!-- ${line} -->`);
  const lines = [mark(BEGIN), ...block.text.trimEnd().split('\n'), mark(END)].join(eol);
  const result = `${rest}${rest === '' ? '' : eol}${lines}${eol}`;
  if (isToml && !holds(tableOf(result, name, ADDED), tableOf(rest, name))) throw changed(name);
  return result;
}

export function hasBlock(text: string, block: TomlBlock | MarkdownBlock): boolean {
  const fixed = (lines: string) =>
    lines
      .trim()
      .split(/\r?\n/)
      .filter((line) => !('varies' in block && block.varies.test(line)));
  const found = blockIn(text);
  return found !== undefined && isDeepStrictEqual(fixed(found.inside), fixed(block.text));
}

/** Returns the text between the marker lines; undefined without them. */
export function linesOfBlock(text: string): string | undefined {
  return blockIn(text)?.inside;
}

function withoutBlock(text: string, block: TomlBlock | MarkdownBlock, name: string): string {
  const found = blockIn(text);
  if (!('isOurs' in block)) return found === undefined ? text : found.before + found.after;
  tableOf(text, name);
  if (found === undefined) return text;
  const foreign = tablesIn(found.inside).filter(({ header }) => !block.isOurs(header));
  const kept = foreign.map(({ lines }) => lines).join('');
  const result = found.before + kept + found.after;
  // The rest must be TOML, without new values.
  if (!holds(tableOf(text, name), tableOf(result, name))) throw changed(name);
  return result;
}

/**
 * Returns the text without the block, to disconnect. Throws `config_invalid` also for subtables of our server that the user
 * added: without the server they define one that cannot start, and Codex rejects the whole file.
 */
export function withoutServer(text: string, block: TomlBlock | MarkdownBlock, name: string): string {
  const rest = withoutBlock(text, block, name);
  if (!('isOurs' in block)) return rest;
  const { mcp_servers: servers } = tableOf(rest, name);
  const left = isObject(servers) ? servers.throughline : undefined;
  if (!isObject(left) || left.command !== undefined || left.url !== undefined) return rest;
  const tables = Object.keys(left).map((key) => `mcp_servers.throughline.${key}`);
  throw unusable(
    name,
    `${tables.join(', ')} cannot stay without the server: remove these tables, then run this again`,
  );
}

/** Splits the text into the part before the block and its line break, the block, and the part after it. */
function blockIn(text: string): { before: string; inside: string; after: string } | undefined {
  const lines = linesOf(text);
  const begin = lines.findIndex((line) => isMark(line, BEGIN_MARK));
  const end = lines.findIndex((line, at) => at > begin && isMark(line, END));
  if (begin === -1 || end === -1) return undefined;
  const before = lines.slice(0, begin).join('');
  const parted = before.endsWith('\r\n') ? 2 : before.endsWith('\n') ? 1 : 0;
  return {
    before: before.slice(0, before.length - parted),
    inside: lines.slice(begin + 1, end).join(''),
    after: lines.slice(end + 1).join(''),
  };
}

function isMark(line: string, mark: string): boolean {
  return line.startsWith(`# ${mark}`) || line.startsWith(`<!-- ${mark}`);
}

/** Splits a text into tables: each header with its lines. Our tables have no multi-line strings. */
function tablesIn(text: string): { readonly header: string; readonly lines: string }[] {
  const tables: { header: string; lines: string }[] = [];
  for (const line of linesOf(text)) {
    const last = tables.at(-1);
    if (line.trimStart().startsWith('[')) tables.push({ header: line.trim(), lines: line });
    else if (last !== undefined) last.lines += line;
    else if (line.trim() !== '') tables.push({ header: '', lines: line });
  }
  return tables;
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/);
}

const ADDED =
  'our tables cannot stand beside what is there: write hooks and servers as [[hooks.EVENT]] and [mcp_servers.NAME] tables';

function tableOf(text: string, name: string, why = 'it is not TOML: repair it'): TomlTable {
  try {
    return parse(text);
  } catch (cause) {
    const [line = ''] = messageOf(cause).split('\n');
    throw unusable(name, `${why} (${line})`, cause);
  }
}

/** Returns true if `whole` contains `part`: all fields of objects, and all items of lists in order. */
function holds(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) return Array.isArray(whole) && hasInOrder(whole, part);
  if (part instanceof Date || !isObject(part)) return isDeepStrictEqual(whole, part);
  return isObject(whole) && Object.entries(part).every(([key, value]) => holds(whole[key], value));
}

function hasInOrder(whole: readonly unknown[], part: readonly unknown[]): boolean {
  let at = 0;
  for (const item of whole) if (isDeepStrictEqual(item, part[at])) at += 1;
  return at >= part.length;
}

function changed(name: string): ThroughlineError {
  return unusable(
    name,
    `the edit would change what is not ours, so nothing was written: edit the lines between "# ${BEGIN_MARK}" and "# ${END}" by hand`,
  );
}
