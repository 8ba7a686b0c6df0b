import { describe, expect, it } from 'vitest';
import { KEPT } from '../../src/contracts/kept.js';
import { kindOf, ROLES, VERDICTS, type Verdict } from '../../src/contracts/kinds.js';
import { MENDED } from '../../src/contracts/reading/mended-json.js';
import {
  BOOLEAN_RULES,
  LIST_RULES,
  MISSING_RULES,
  OBJECT_RULES,
  TEXT_RULES,
} from '../../src/contracts/reading/repair-rules.js';
import { REPAIRS } from '../../src/contracts/reading/repairs.js';
import { ALIASES, SEVERITY_WORDS, VERDICT_WORDS } from '../../src/contracts/reading/synonyms.js';
import { ROOT } from './pages.js';

/** Written by `npm run docs`, like the other pages of the reference. */

const WANTED = {
  'a text': TEXT_RULES,
  'true or false': BOOLEAN_RULES,
  'a list': LIST_RULES,
  'an object in a list': OBJECT_RULES,
  'a field that is missing': MISSING_RULES,
};

const code = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(', ');
const rows = (cells: readonly (readonly string[])[]) =>
  cells.map((row) => `| ${row.join(' | ')} |`).join('\n');
const kindsWith = (verdict: Verdict) =>
  ROLES.filter((role) => verdict in kindOf(role).next).map((role) => kindOf(role).verdictField ?? role);

describe('the reference', () => {
  it('the reference gives every repair, and every other word that is understood', async () => {
    const page = `# Repairs of results

A result needs two things that are clear: its task and, unless its kind gives none, its verdict. Everything else is read as
far as it can be. This page is written from [src/contracts/reading](../../src/contracts/reading/read-result.ts).

What was changed, left out or cut stands in \`repairs\` on the result's event: each with its kind, its field, and a short
detail. An event tells the first twenty and counts the others in \`repairs_omitted\`. \`throughline publish\` says them on
standard error, \`--wait\` and \`dispatch-show\` return them, and the statistics of the extractor count them by kind.

| kind | what happened to the field |
|---|---|
${rows(Object.entries(REPAIRS).map(([kind, about]) => [`\`${kind}\``, about]))}

## Where the result is found

- The body is one JSON object, or one pair of markers stands around it.
- Without markers, a text may hold one fenced block of \`json\`. Words around the object are left out.
- An object or a list of one around the result is taken off.
- JSON that does not parse is mended once: trailing commas, comments, single and curly quotes, \`True\` and \`None\`, line
  breaks in texts, a cut-off end. A text that is cut off ends in \`…\`. Only texts of at most ${MENDED.characters} characters
  and ${MENDED.signs} quotes and brackets are mended.

## What becomes of a value

| wanted | repair | kind |
|---|---|---|
${rows(Object.entries(WANTED).flatMap(([wanted, rules]) => rules.map(({ about, kind }) => [wanted, about, `\`${kind}\``])))}

\`null\` and an empty text count as left out. What no rule can read is skipped, and the rest of the list or result stays. An
event keeps ${KEPT.outcome.text} characters of each text and ${KEPT.outcome.list} items of each list.

## Other words for verdicts

Case, signs, emoji and a reason after the word do not matter: \`✅ Done: all tests pass\` is \`completed\`. A field of that
name with \`true\` counts too: \`"approved": true\`.

| verdict | of | other words |
|---|---|---|
${rows(VERDICTS.map((verdict) => [`\`${verdict}\``, kindsWith(verdict).join(', '), code(VERDICT_WORDS[verdict])]))}

## Other words for severities

Anything else is \`important\`.

| severity | other words |
|---|---|
${rows(Object.entries(SEVERITY_WORDS).map(([severity, words]) => [`\`${severity}\``, code(words)]))}

## Other names of fields

\`taskId\`, \`task-id\` and \`Task ID\` are \`task_id\`, and so with every field. These names are understood too, written in any of
those ways, where the field does not stand under its own name:

| field | other names |
|---|---|
${rows(
  Object.entries(ALIASES)
    .filter(([, names]) => names.length > 0)
    .map(([field, names]) => [`\`${field}\``, code(names)]),
)}

\`task\` and \`id\` count as the task only where they hold no spaces.

## What stays an error

- no task, or two different ones: \`task_id\` and \`taskId\`, or the same key twice
- no verdict that can be understood, such as \`in_progress\`, or two different ones
- two pairs of markers, two fenced blocks of JSON, two objects
- a text that ends within the id of its task
- a result sent to the subject of another role, also where a part of it could be read as a verdict; the error names the right one
`;
    await expect(page).toMatchFileSnapshot(`${ROOT}docs/reference/repairs.md`);
  });
});
