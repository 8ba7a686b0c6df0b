import { describe, expect, it } from 'vitest';
import type { RecordedEntry } from '../../../src/contracts/trace-entry.js';
import { contentOf, finishedTurn, requestIn } from '../../../src/memory/traces/finished-turn.js';

const did = (tool: string, more: Partial<RecordedEntry> = {}): RecordedEntry => ({
  id: tool,
  intent: 'i',
  action: 'TOOL_EXECUTION',
  status: 'SUCCESS',
  size: 0,
  tool,
  ...more,
});
const ran = (command: string, more: Partial<RecordedEntry> = {}) => did('Bash', { command, ...more });
const turn = (entries: readonly RecordedEntry[], message = '', request = 'Make it private', more = {}) =>
  finishedTurn({ entries, message, request, commits: [], ...more });

describe('what a finished turn leaves', () => {
  it('the request, what was done, the files, and the newest outcome of each check', () => {
    const entries = [
      did('Read', { files: ['README.md'] }),
      did('Edit', { files: ['package.json'] }),
      did('Write', { files: ['src/x.ts'], status: 'FAILURE' }),
      ran('cd app && npm test 2>&1', { status: 'FAILURE' }),
      ran('cd app && npm test 2>&1'),
      ran('npm run lint', { status: 'FAILURE' }),
    ];
    expect(turn(entries, 'Done! The package is private now. It stays so.')).toEqual({
      summary: 'Make it private: The package is private now.',
      files: ['package.json'],
      deleted: [],
      renamed: [],
      tests: [
        { command: 'npm test', passed: true },
        { command: 'npm run lint', passed: false },
      ],
      decisions: [],
      rules: [],
      found: [],
      failed: [],
      open: [],
      questions: [],
      options: [],
      requests: ['The user: Make it private'],
      authored: ['The user: Make it private'],
      commits: [],
      settled: [],
      replaces: new Map(),
      leftOut: 0,
    });
  });

  it('nothing of a turn that only read, talked, or offers more', () => {
    const read = [did('Read', { files: ['a.ts'] }), ran('cat a.ts | head'), ran('git log')];
    expect(turn(read, 'A package is a folder. Would you like me to explain more?')).toBeUndefined();
    expect(turn([], 'Hello! How can I help? Let me know.')).toBeUndefined();
  });

  it('a question of a turn that only talked; of its decisions only the labelled ones', () => {
    expect(turn([], 'There are two ports. Which port should the server use?', 'Start it')).toMatchObject({
      summary: 'Start it: There are two ports.',
      questions: ['Which port should the server use?'],
      open: [],
    });
    expect(turn([], 'We decided to keep one port because both clients know it.')).toBeUndefined();
    expect(turn([], 'Decided: one port, because both clients know it')).toMatchObject({
      summary: 'Make it private',
      decisions: ['one port, because both clients know it'],
    });
  });

  it('the files that git knows of, without those that it says are reverted', () => {
    const git = { changed: ['gen.ts'], deleted: ['b.ts'], renamed: [], reverted: ['c.ts'] };
    expect(
      turn([ran('npm run gen'), did('Edit', { files: ['c.ts'] })], '', 'Generate it', { git }),
    ).toMatchObject({
      summary: 'Generate it: deleted b.ts',
      files: ['gen.ts'],
    });
    const moved = { ...git, renamed: [{ from: 'src/shop.ts', to: 'src/store.ts' }] };
    expect(
      turn([ran('git mv src/shop.ts src/store.ts')], 'Renamed.', 'Move it', { git: moved }),
    ).toMatchObject({
      summary: 'Move it: renamed src/shop.ts to src/store.ts: deleted b.ts',
      files: ['gen.ts', 'src/store.ts'],
    });
    const undone = { ...git, changed: [], deleted: [] };
    expect(turn([did('Edit', { files: ['c.ts'] })], '', 'Undo it', { git: undone })).toMatchObject({
      summary: 'Undo it: reverted',
      files: [],
    });
  });

  it('the cause that a turn has found which changed nothing, and no guess', () => {
    const read = [did('Read', { files: ['a.ts'] })];
    expect(turn(read, 'The cause is `roundPrice`: it rounds twice.', 'Why is it wrong?')).toMatchObject({
      summary: 'Why is it wrong?',
      found: ['The cause is roundPrice: it rounds twice.'],
    });
    expect(turn(read, 'The cause is probably the cache.')).toBeUndefined();
    expect(turn([], 'The cause is the cache.')).toBeUndefined();
    expect(turn([ran('npm test')], 'It fails because the clock is in UTC.')?.found).toHaveLength(1);
    expect(turn([did('Edit', { files: ['a.ts'] })], 'The cause was the cache.')?.found).toEqual([]);
  });

  it('no decision that only describes the code', () => {
    const edits = [did('Edit', { files: ['a.ts'] })];
    const decisions = (message: string) => turn(edits, message)?.decisions;
    expect(decisions('I went with sqlite.')).toEqual(['I went with sqlite.']);
    expect(decisions('We use Redis because writes dominate.')).toEqual([]);
    expect(decisions('I prefer option A because it is simpler.')).toEqual([]);
  });

  it('no labelled line, and no rule of the request, in its summary', () => {
    const edits = [did('Edit', { files: ['a.ts'] })];
    expect(turn(edits, 'Rule: dates are UTC', 'Format the dates')?.summary).toBe('Format the dates');
    expect(turn(edits, 'Okay.', 'Never touch legacy/.')?.summary).toBe('Changed a.ts');
    expect(turn([], 'Okay.', 'Never touch legacy/.')?.summary).toBe('');
  });

  it('the list directly at its question, which may be a labelled line', () => {
    const options = (message: string) => turn([], message)?.options;
    const list = '1. JWT\n2. A signed cookie\n\n';
    expect(options(`Two ways:\n${list}Which one?`)).toEqual(['JWT', 'A signed cookie']);
    expect(options(`Which one?\n\n${list}Open: which one?`)).toEqual(['JWT', 'A signed cookie']);
    expect(options(`Did this:\n${list}All works.\n\nWhich one?`)).toEqual([]);
  });

  it('the rules and choices of the user, unless a labelled line says the same', () => {
    const request = 'Use dayjs instead of moment. Never touch legacy/.';
    const edits = [did('Edit', { files: ['a.ts'] })];
    expect(turn(edits, 'Done.', request)).toMatchObject({
      decisions: ['The user: Use dayjs instead of moment.'],
      rules: ['The user: Never touch legacy/.'],
    });
    const lines = 'Done.\n\nDecided: dayjs, not moment\nRule: the `legacy/` folder, do not touch';
    expect(turn(edits, lines, request)).toMatchObject({
      decisions: ['dayjs, not moment'],
      rules: ['The user: Never touch legacy/.', 'the legacy/ folder, do not touch'],
    });
    const same = "Decided: we use dayjs instead of moment\nRule: don't touch `legacy/`";
    expect(turn(edits, same, request)).toMatchObject({
      decisions: ['we use dayjs instead of moment'],
      rules: ["don't touch legacy/"],
    });
  });

  it.each([
    ['Never touch legacy/', 'Rule: never commit secrets'],
    ['Never touch legacy/', 'Decided: touch legacy/'],
    ['Never touch the legacy config.', 'Decided: config is read from YAML'],
    ['Use dayjs instead of moment.', 'Decided: moment stays in the old report page only'],
    ['Use dayjs instead of moment.', 'Decided: use moment instead of dayjs'],
    ['Never use spaces', 'Rule: never use tabs, spaces are fine'],
    ['Always use TS for the scripts', 'Rule: always use JS for the scripts'],
    ['Always use port 3000 for the server', 'Rule: always use port 4000 for the server'],
  ])('the user’s “%s” beside another statement of the agent', (request, message) => {
    const { decisions = [], rules = [] } = turn([], message, request) ?? {};
    expect([...decisions, ...rules].sort()).toEqual(
      [`The user: ${request}`, message.replace(/^\w+: /, '')].sort(),
    );
  });

  it('a success behind a pipe does not count as an outcome', () => {
    expect(turn([ran('npm test | tail -5')])).toBeUndefined();
    expect(turn([ran('npm test | tail -5', { status: 'FAILURE' })])?.tests).toEqual([
      { command: 'npm test', passed: false },
    ]);
  });

  it('a request is cut at its first sentence that says something', () => {
    expect(requestIn('Hi!\n\nPlease **fix** the parser. It crashes.')).toBe('Please fix the parser');
    expect(requestIn('yes')).toBe('yes');
    expect(requestIn('# Iteration 4 of 10\n\nWrite the lexer.')).toBe('Write the lexer');
  });
});

describe('what a last message says', () => {
  it.each([
    ['a labelled line', 'Moved it.\n\n**Open question:** semicolon?', { questions: ['semicolon?'] }],
    ['a list in bold', 'Moved it.\n\n**Not done:**\n- the docs\n', { open: ['the docs'] }],
    [
      'words for it',
      'Moved it. The docs still need an update.',
      { open: ['The docs still need an update.'] },
    ],
    [
      'no test run',
      'Moved it. I could not run the tests here.',
      { open: ['I could not run the tests here.'] },
    ],
    [
      'an offer, which is none',
      'Moved it.\n\nIf you like, I can also commit it.\n\nShall I commit?',
      { open: [], questions: [] },
    ],
    ['no code or table', '```\nTODO: x\n```\n| TODO: y | z |\n\nMoved it.', { done: 'Moved it.', open: [] }],
    ['a heading', '## Summary\n\nHere is what I did:\n\n- Moved the parser\n', { done: 'Moved the parser' }],
    [
      'an offer in another language',
      'Moved it. Soll ich einen Pull Request öffnen? Voulez-vous que je pousse ? プルリクエストを作成しましょうか？',
      { questions: [] },
    ],
    [
      'what is left, in other languages',
      'Moved it. Die Seite fehlt noch. Duplicates are not handled yet. 还没有测试。',
      { open: ['Die Seite fehlt noch.', 'Duplicates are not handled yet.', '还没有测试。'] },
    ],
    ['nothing', 'Done.', { done: undefined }],
  ])('%s', (_, message, said) => {
    expect(contentOf(message)).toMatchObject(said);
  });

  it.each([
    ...[
      'Do you want npm or pnpm?',
      '¿Quieres npm o pnpm?',
      'Voulez-vous npm ou pnpm ?',
      '要我用 npm 还是 pnpm？',
    ],
    ...['Soll ich npm oder pnpm nehmen?', 'Willst du npm oder pnpm?', 'Sollen wir die Seiten cachen?'],
    'npmとpnpmのどちらを使いましょうか？',
  ])('a choice, which is a question: %s', (question) => {
    expect(contentOf(question).questions).toEqual([question]);
  });
});
