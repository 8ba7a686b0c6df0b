import { readFileSync } from 'node:fs';
import { checkSync } from 'recheck';
import { describe, expect, it, vi } from 'vitest';
import { type Expression, expressionsIn, expressionsOfSrc } from './expressions.js';

// The build in JavaScript: the others need a JVM, or a binary for this very system.
vi.stubEnv('RECHECK_SYNC_BACKEND', 'pure');

/** No step of the checker ends by the clock: what it finds would be another thing on a busy machine. */
const UNTIMED = { seedingTimeout: null, incubationTimeout: null, mutationTimeout: null, attackTimeout: null };

const LONG = process.env.THROUGHLINE_TEST_EXPRESSIONS === 'all';

/**
 * Expressions that the checker found to be linear, but took more than half a second for. One that is changed is not
 * among them any more, and is checked: `THROUGHLINE_TEST_EXPRESSIONS=all` checks all of them.
 */
const CHECKED: readonly string[] = JSON.parse(
  readFileSync(new URL('../fixtures/expressions/linear.json', import.meta.url), 'utf8'),
);

/** What the checker cannot judge, or takes for slow, and why it does no harm, each by how it begins. */
const BOUNDED: readonly (readonly [path: string, begins: string, why: string])[] = [
  [
    'memory/learnings/learnings-state.ts',
    String.raw`[\p{L}\p{N}][`,
    'each way to read on fails within two characters',
  ],
  ['agents/hooks/hook-call.ts', '[.-]+$', 'it sees an id of at most 64 characters'],
  [
    'agents/hooks/hook-call.ts',
    String.raw`\b(?<board>`,
    'each try ends within 150 characters: every repeat in it is bounded',
  ],
  ['ledger/tasks-md/task-ids.ts', '^', 'it sees the first 80 characters of a line, and nothing more'],
  ['ledger/tasks-md/task-line.ts', String.raw`\s(?:(\p`, 'it sees the last 40 characters of a line'],
  [
    'memory/learnings/learnings-state.ts',
    '(?<!',
    'it sees the text of a demand, which is cut to 200 characters before',
  ],
  [
    'nats/connection/nats-access.ts',
    '-----BEGIN NATS USER JWT',
    "it sees the operator's own file, and nothing from outside",
  ],
  [
    'memory/redaction/redactor.ts',
    '',
    'what it combines is checked by itself below; a name with its value begins at a rare sign, and each repeat of it is bounded',
  ],
  ...[
    ...[String.raw`(?<=:\/\/)`, 'jdbc:oracle', '-[puawPkU]', '--[a-z-]', String.raw`\b(?:(?:mysql`],
    ...[String.raw`(?<![\w./:-])[\w.-]`, String.raw`(?:\b(?:echo`, String.raw`\((?=`],
    ...['PASSWORD(?:', 'assword(?:'],
  ].map(
    (begins) =>
      [
        'memory/redaction/secret-rules.ts',
        begins,
        'each repeat in it has a limit of 768 characters or less, so each try ends',
      ] as const,
  ),
  ['memory/traces/answers.ts', ' (?:or|', 'it sees a question of at most 400 characters'],
  ['memory/traces/answers.ts', String.raw`(?<=\S) (?:for`, 'it sees a question of at most 400 characters'],
  ['memory/traces/labelled-lines.ts', '^(?<indent>', 'it sees the first 1,000 characters of a line'],
  ['memory/traces/wordings.ts', '', 'it sees the first 400 characters of a sentence'],
  ['memory/facts/contrast.ts', '', 'it sees the first 400 characters of a statement'],
  ['memory/facts/denials.ts', '', 'it sees the first 400 characters of a statement'],
  [
    'memory/session/erased-state.ts',
    '[*_',
    'it runs when a person erases, on texts that are cut before they are stored',
  ],
];

const all = await expressionsOfSrc(async (path) => {
  // Loaded once more where another test has loaded it already: it makes them again.
  const module: object = await import(`${new URL(`../../src/${path}`, import.meta.url).pathname}?again`);
  // Made of the text that is erased.
  if ('overwriting' in module && typeof module.overwriting === 'function')
    module.overwriting('never touch it', 'mark');
});
const { PATTERNS, TOKENS } = await import('../../src/memory/redaction/secret-rules.js');
/** Without its numbers, which the checker counts one by one: what is linear so is linear with them. */
const relaxed = (source: string) =>
  source.replace(/\{(\d+)(?:,(\d+))?\}/g, (all, low, high) =>
    Number(high ?? low) < 8 ? all : low === '0' ? '*' : '+',
  );
const rules = [
  ...PATTERNS.flatMap(({ hint, pattern }) => [hint, pattern]),
  ...TOKENS.map(([, prefix, body, least]) => `(?<![A-Za-z0-9])${prefix}${body}{${least},4096}`),
].map((source) => ({ path: 'memory/redaction/secret-rules.ts', source: relaxed(source), flags: 'g' }));

const written = ({ source, flags }: Pick<Expression, 'source' | 'flags'>) => `/${source}/${flags}`;
const isBounded = ({ path, source }: Expression) =>
  BOUNDED.some(([where, begins]) => where === path && source.startsWith(begins));

const judged = [...all.filter((each) => !isBounded(each)), ...rules.filter((each) => !isBounded(each))];

function complexityOf({ source, flags }: Pick<Expression, 'source' | 'flags'>): string {
  const found = checkSync(source, flags, { timeout: 120_000, randomSeed: 1, ...UNTIMED });
  if (found.status === 'safe') return 'linear';
  return found.status === 'vulnerable' ? found.complexity.summary : `not known: ${found.error.kind}`;
}

describe('every regular expression of src', () => {
  it('the check finds every regular expression of src', () => {
    expect(all.length).toBeGreaterThan(140);
    expect(all.filter(({ path }) => path === 'memory/learnings/learnings-state.ts')).toHaveLength(4);
  });

  it.each(judged.filter((each) => LONG || !CHECKED.includes(written(each))))(
    'a regular expression of src takes time in proportion to its text: $path /$source/$flags',
    (expression) => {
      expect(complexityOf(expression)).toBe('linear');
    },
  );

  it('a regular expression that needs no check has had one, or sees little', () => {
    expect(CHECKED.filter((known) => !judged.some((each) => written(each) === known))).toEqual([]);
    const unused = BOUNDED.filter(
      ([path, begins]) =>
        ![...all, ...rules].some((each) => each.path === path && each.source.startsWith(begins)),
    );
    expect(unused).toEqual([]);
  });
});

describe('the check', () => {
  it.each([
    ['(a+)+$', 'exponential'],
    [String.raw`\s+$`, '2nd degree polynomial'],
    [String.raw`<\|\s*([^<>|]*?)\s*>`, '3rd degree polynomial'],
    [String.raw`^\s+\S`, 'linear'],
  ])('the check says of the regular expression %s that it is %s', (source, complexity) => {
    expect(complexityOf({ source, flags: '' })).toBe(complexity);
  });

  it.each([
    ['const a = /a+/g', ['a+'], 0],
    ['text.replace(/b/, "").split("/c/")', ['b'], 0],
    ["const a = new RegExp('a', 'g'); RegExp(b + c)", [], 2],
    ['export const schema = z.string().regex(/^x$/)', ['^x$'], 0],
  ])('the expression reader finds the regular expressions in %s', (source, literals, made) => {
    const found = expressionsIn('a.ts', source);
    expect(found.literals.map((each) => each.source)).toEqual(literals);
    expect(found.made).toBe(made);
  });
});
