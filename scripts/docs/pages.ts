import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The pages that people read, by their path in the repository. */

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The text of each generated file, by its path in the repository. */
export type Written = Readonly<Record<string, string>>;

export function pages(): { readonly path: string; readonly text: string }[] {
  const docs = readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`);
  return ['README.md', ...docs.sort()].map((path) => ({ path, text: readFileSync(ROOT + path, 'utf8') }));
}

/** A page whose beginning people write, and whose end the code writes: what the code says replaces all from a heading on. */
export function endingWith(path: string, ending: string): string {
  const [heading = ''] = ending.split('\n', 1);
  const text = readFileSync(ROOT + path, 'utf8');
  const at = text.indexOf(`\n${heading}\n`);
  return `${at === -1 ? `${text.trimEnd()}\n` : text.slice(0, at)}\n${ending}`;
}

/** Rows of the first table under a heading, each as its cells. */
export function tableUnder(text: string, heading: string): string[][] {
  const section = text.split(`\n${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()));
}

/** Anchors that a page offers, as GitHub makes them from headings. */
export function anchorsOf(text: string): string[] {
  return [...text.replace(/```[\s\S]*?```/g, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** A text for terminals on a page: commands, variables, fields and placeholders are code there, and no tags. */
export function asCode(text: string): string {
  // What is code already stays as it is.
  return text
    .split(/(```[\s\S]*?```|`[^`\n]*`)/)
    .map((part, at) =>
      at % 2 === 1 ? part : part.replace(TYPED, (typed) => `\`${typed.replaceAll('"', '')}\``),
    )
    .join('');
}

const TYPED =
  /"(?:throughline|nats) [^"\n]+"|(?:[a-z]+\.)*<[a-z][\w.-]*>(?:\.(?:[a-z]+|<[a-z]+>))*|\{\{\w+\}\}|\b(?:THROUGHLINE|NATS|BEGIN_DISPATCH|END_DISPATCH)_[A-Z_]*[A-Z]\b|\bdetails\.\w+|\b(?:max_payload|retryAfterMs)\b|(?<= )--[a-z][a-z-]*\b/g;
