import { MENDED } from '../../src/contracts/dispatch-body.js';
import { kindOf, ROLES, VERDICTS, type Verdict } from '../../src/contracts/kinds.js';
import { REPAIRS } from '../../src/contracts/reading/repairs.js';
import { ALIASES, SEVERITY_WORDS, VERDICT_WORDS } from '../../src/contracts/reading/synonyms.js';
import { endingWith, type Written } from './pages.js';

/** Written by `npm run docs`, like the other pages of the reference. */

const code = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(', ');
const rows = (cells: readonly (readonly string[])[]) =>
  cells.map((row) => `| ${row.join(' | ')} |`).join('\n');
const kindsWith = (verdict: Verdict) =>
  ROLES.filter((role) => verdict in kindOf(role).next).map((role) => kindOf(role).verdictField ?? role);

export function resultsPage(): Written {
  const page = `## Repairs

Everything besides the task and the verdict is repaired where possible. The event of a result lists the first twenty repairs in
\`repairs\`, each with kind, field and a short detail, and counts the others in \`repairs_omitted\`. \`throughline publish\`
prints them on standard error, \`--wait\` and \`dispatch-show\` return them, and the extractor counts them by kind. This part of the
page is generated from [src/contracts/reading](../../src/contracts/reading/read-result.ts).

| kind | what happened to the field |
|---|---|
${rows(Object.entries(REPAIRS).map(([kind, about]) => [`\`${kind}\``, about]))}

### Where the result is found

- The body is one JSON object, or has one pair of markers around it.
- Without markers, a text may contain one fenced block of \`json\`. Words around the object are ignored.
- An object around the result, or a list with one item, is unwrapped.
- JSON that does not parse is repaired once: trailing commas, comments, single and curly quotes, \`True\` and \`None\`, line
  breaks in texts. This works up to ${MENDED.characters} characters
  and ${MENDED.signs} quotes and brackets.

### How a value is repaired

A number becomes its text, and an object its path, id or message. \`yes\`, \`passed\` or \`failed\` become true or false. A lone item becomes a list of one,
and a text of paths is split at commas and lines. An issue that is a text becomes its message. \`"none"\` and \`"n/a"\` count as missing. An issue without a severity is \`important\`. \`null\` and an empty text count as missing. A value that no rule can read is skipped; the rest of the list or result stays.

### Other words for verdicts

Case, signs, emoji and a reason after the word do not matter: \`✅ Done: all tests pass\` is \`completed\`. A field of that
name with \`true\` counts too: \`"approved": true\`.

| verdict | of | other words |
|---|---|---|
${rows(VERDICTS.map((verdict) => [`\`${verdict}\``, kindsWith(verdict).join(', '), code(VERDICT_WORDS[verdict])]))}

### Other words for severities

Any other word is \`important\`.

| severity | other words |
|---|---|
${rows(Object.entries(SEVERITY_WORDS).map(([severity, words]) => [`\`${severity}\``, code(words)]))}

### Other names of fields

\`taskId\`, \`task-id\` and \`Task ID\` mean \`task_id\`, and so on for every field. If a field is missing, other names are understood, such as
${code(ALIASES.files_modified ?? [])} for \`files_modified\`; [synonyms.ts](../../src/contracts/reading/synonyms.ts) lists them. So is an optional field of six
letters or more that was misspelt by one letter, such as \`sumary\`. \`task\` and \`id\` count as the task only if they contain no spaces.

### What stays an error

- no task, or two different ones, such as \`task_id\` and \`taskId\`
- no verdict that can be understood, such as \`in_progress\`, or two different ones
- two pairs of markers, two fenced blocks of JSON, two objects
- a text that ends too early
- a result on the subject of another role; the error names the right role
`;
  return { 'docs/how-to/publish-results.md': endingWith('docs/how-to/publish-results.md', page) };
}
