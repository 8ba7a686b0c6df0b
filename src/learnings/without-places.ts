/**
 * Where in the code a demand was made, which differs from task to task: paths, files with line and column, numbers.
 *
 * What only looks like a place counts: `input/output` is not a path, nor is `path.join` a file. A demand taken for
 * another one is worse than one that is not seen to recur.
 */
const EXTENSIONS =
  'bash|c|cc|cjs|conf|cpp|cs|css|csv|cts|dart|env|ex|exs|go|gradle|h|hpp|htm|html|ini|java|js|json|jsonl|jsx|kt|kts|' +
  'less|lock|log|lua|m|md|mdx|mjs|mts|php|pl|proto|ps1|py|rb|rs|rst|sass|scala|scss|sh|snap|sql|svelte|svg|swift|' +
  'tf|toml|ts|tsx|txt|vue|xml|yaml|yml|zig|zsh';

const SEGMENT = String.raw`[\p{L}\p{N}_@.~*+-]+`;
const SLASH = String.raw`[/\\]`;

const PLACES = [
  // A path from a root or the current folder, one of three parts or more, or one that names a folder.
  String.raw`(?<![\p{L}\p{N}])(?:[A-Za-z]:|\.{1,2}|~)?${SLASH}${SEGMENT}(?:${SLASH}${SEGMENT})*${SLASH}?`,
  `${SEGMENT}(?:${SLASH}${SEGMENT}){2,}${SLASH}?`,
  String.raw`${SEGMENT}${SLASH}(?=\s|$|[.,;:)\]}'"\x60])`,
  // A file, with or without the way to it.
  String.raw`(?:${SEGMENT}${SLASH})*[\p{L}\p{N}_@-][\p{L}\p{N}_@.-]*\.(?:${EXTENSIONS})(?![\p{L}\p{N}_(])(?!\.[\p{L}\p{N}])`,
  // Line and column after a file, or by themselves.
  String.raw`(?<![\p{L}\p{N}])[Ll]?\p{N}+(?![\p{L}\p{N}])`,
];

const PLACE = new RegExp(PLACES.join('|'), 'gu');

/** A text without the places that it names. */
export function withoutPlaces(text: string): string {
  return text.replace(PLACE, ' ');
}
