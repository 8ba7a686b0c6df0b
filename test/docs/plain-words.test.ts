import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROOT } from './pages.js';

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
const RECORDED = /^(test\/fixtures\/|scripts\/demo-session|docs\/explanation\/benchmarks\.json)/;
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
