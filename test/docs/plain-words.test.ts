import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pages, ROOT } from '../../scripts/docs/pages.js';
import { dialectIn, isLong, sentencesOf } from './prose.js';

/** Words that a reader stumbles over, and what to say in their place. */
const STUMBLING: readonly (readonly [words: RegExp, better: string])[] = [
  [/anew/i, 'again'],
  [/\bwhoever\b/i, 'anyone who, a caller that, the one that'],
  [/\bsomebody\b/i, 'someone, a person, another process'],
  [/\bnobody's\b/i, "no one's"],
  [/\bfor ever\b/i, 'forever, without an end'],
  [/\blet us\b/i, "let's, or nothing"],
  // "There is no stream" is plain; "x is no stream" is not.
  [/(?<!\bthere )\b(?:is|are) no\b(?! longer)/i, 'is not a'],
];

const KINDS = /\.(ts|mts|mjs|md|yml|json)$/;
/** Texts of others: recorded sessions and plans as they are found. */
const RECORDED =
  /^(test\/fixtures\/|scripts\/(demo-session|eval\/history\/)|docs\/contributing\/benchmarks\.json)/;
const SELF = 'test/docs/plain-words.test.ts';

function files(): string[] {
  const inside = ['src', 'test', 'scripts', 'docs'].flatMap((folder) =>
    readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name.replaceAll('\\', '/')}`,
    ),
  );
  return ['README.md', ...inside].filter(
    (path) => KINDS.test(path) && !RECORDED.test(path) && !path.includes('node_modules/') && path !== SELF,
  );
}

describe('every text that people read', () => {
  it('does without the words that readers stumble over', () => {
    const found = files().flatMap((path) =>
      readFileSync(ROOT + path, 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          STUMBLING.filter(([words]) => words.test(line)).map(
            ([words, better]) => `${path}:${index + 1}: ${words.exec(line)?.[0]} → ${better}`,
          ),
        ),
    );
    expect(found).toEqual([]);
  });
});

/** Sentences of more than 30 words, and words of the older style, in all pages. Lower these limits, never raise them. */
const MOST = { long: 8, dialect: 30 };
/** Written by `npm run bench`: lists of figures. */
const MEASURED = 'docs/contributing/benchmarks.md';

it('the pages have hardly a long sentence or a word of the older style', () => {
  const sentences = pages()
    .filter(({ path }) => path !== MEASURED)
    .flatMap(({ path, text }) => sentencesOf(text).map((sentence) => ({ path, sentence })));
  expect(sentences.length).toBeGreaterThan(3_000);
  const long = sentences.filter(({ sentence }) => isLong(sentence));
  const dialect = sentences.flatMap(({ path, sentence }) =>
    dialectIn(sentence).map((words) => ({ path, words, sentence })),
  );
  const found = { long: long.length, dialect: dialect.length };
  const shown = [...long, ...dialect].map((each) => JSON.stringify(each)).join('\n');
  expect(found.long <= MOST.long && found.dialect <= MOST.dialect, `${JSON.stringify(found)}\n${shown}`).toBe(
    true,
  );
});

it('a long sentence and a word of the older style are found, and code is not', () => {
  const text = `# What it takes\n\nWhat the log takes is kept. ${'word '.repeat(31)}end. Run \`it goes\`.\n\n\`\`\`sh\nit goes\n\`\`\``;
  const sentences = sentencesOf(text);
  expect(sentences.map(isLong)).toEqual([false, true, false]);
  expect(sentences.map(dialectIn)).toEqual([['What', 'takes'], [], []]);
});
