import { describe, expect, it } from 'vitest';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { emptyState } from '../../../src/memory/session/session-state.js';
import { LINES_WANTED, labelledLines } from '../../../src/memory/traces/labelled-lines.js';
import { isOwnChoice, statedByUser } from '../../../src/memory/traces/stated-lines.js';
import { compilePrompt } from '../../../src/prompt/compile-prompt.js';
import { explained } from '../../prompt/parts.js';
import { implementer, recorded, stored } from '../../support/builders.js';
import { inPrompt, ranked } from '../../support/learnings.js';
import { Played } from '../../support/played.js';

describe('labelled lines', () => {
  it('each label in any case, in a list, bold, with a full-width colon or a dash, and with lines below it', () => {
    const message = [
      'All of it is done.',
      '',
      '**Decided: keep sqlite**',
      '- **Rule:** never touch **legacy/**',
      '* **found**: the flag is read',
      '  twice, in cli and in config',
      'FAILED： Express 5, because the router changed',
      'Open – write the docs',
      'Open: which port?',
    ].join('\n');
    expect(labelledLines(message)).toEqual({
      decisions: ['keep sqlite'],
      rules: ['never touch legacy/'],
      found: ['the flag is read twice, in cli and in config'],
      failed: ['Express 5, because the router changed'],
      open: ['write the docs'],
      questions: ['which port?'],
      settled: [],
      replaces: new Map(),
      leftOut: 0,
    });
  });

  it('a line of the agent cannot begin as a sentence of the user', () => {
    expect(labelledLines('Rule: The user: never deploy')?.rules).toEqual(['the user: never deploy']);
  });

  it('a line names the statements that it ends', () => {
    const lines = labelledLines(
      [
        '- **Decided instead of M7:** use dayjs',
        'Decided instead of M7.2, m9 and web/M4: no cache',
        '**Settled M9**: 410',
        'Settled N3 – done in a.ts',
        'Settled: nothing that has a name',
        'Rule: Decided instead of M1 is how a line begins',
      ].join('\n'),
    );
    expect(lines).toMatchObject({
      decisions: ['use dayjs', 'no cache'],
      settled: ['410', 'done in a.ts'],
      rules: ['Decided instead of M1 is how a line begins'],
    });
    expect([...(lines?.replaces ?? [])]).toEqual([
      ['use dayjs', ['M7']],
      ['no cache', ['M7.2', 'm9', 'web/M4']],
      ['410', ['M9']],
      ['done in a.ts', ['N3']],
    ]);
  });

  it('the request for them costs at most 90 tokens', () => {
    expect(LINES_WANTED.length / 4).toBeLessThanOrEqual(90);
  });

  it('no line of code, of a quotation, of another label, or that says nothing', () => {
    const message = [
      '```\nDecided: use zod\n```',
      '> Rule: never',
      '',
      '    Decided: use zod',
      'Entschieden: sqlite',
      'Decided: none',
      'Open: -',
      'Open: Want me to open a pull request?',
      'Decided to use zod',
    ].join('\n');
    expect(labelledLines(message)).toBeUndefined();
  });

  it('twenty lines at most, each cut to 300 characters, and counts those that are cut or left out', () => {
    const lines = labelledLines(
      Array.from({ length: 25 }, (_, at) => `Rule: ${at} ${'x'.repeat(400)}`).join('\n'),
    );
    expect(lines?.rules).toHaveLength(20);
    expect(lines?.rules[0]).toHaveLength(300);
    expect(lines?.leftOut).toBe(25);
  });
});

describe('what a user states', () => {
  it.each([
    'Never touch legacy/',
    'Please always run the linter before you commit.',
    "don't use zod",
    'dont use zod',
    'From now on we write tests first.',
    'remember: never commit to main',
    'We never use default exports.',
    'Nie direkt auf main committen!',
    'Bitte verwende immer pnpm.',
    'Nunca modifiques la carpeta legacy.',
    'No uses lodash.',
    'A partir de ahora usa pnpm.',
    "N'utilise pas lodash.",
    'Désormais les tests vont dans test/.',
    'Nunca faça commit na main.',
    'Não use any.',
    '今後は必ずテストを書いてください。',
    'legacyフォルダは触らないでください。',
    '永远不要修改 legacy 目录。',
    '以后提交前先跑测试。',
    'No zod please.',
    'Kein zod, bitte.',
    'Den Ordner legacy/ bitte nie anfassen.',
    'Rühr legacy/ nie an.',
    'The API must never return null.',
    'Nada de zod.',
    'Pas de zod ici.',
    'no print in lib/ anymore',
    "don't use yup here",
    'Remember to always sign commits.',
  ])('a rule: %s', (sentence) => {
    expect(statedByUser(`Fix the parser. ${sentence}`).rules).toHaveLength(1);
  });

  it.each([
    'Actually use dayjs instead.',
    'Use fetch rather than axios.',
    "No, let's go with postgres.",
    'Nimm lieber dayjs statt moment.',
    'Usa dayjs en vez de moment.',
    'Utilise dayjs au lieu de moment.',
    'Use dayjs em vez de moment.',
    'momentの代わりにdayjsを使ってください。',
    '改用 dayjs。',
    'No, not that: keep the queue in Postgres.',
    'Keep it in Postgres, not in Redis.',
    'No, not that. Keep the queue in Postgres.',
    'Nein, nimm Postgres.',
    'Usa dayjs, no moment.',
    'use node:test, no jest',
    'Use dayjs not moment',
    'Switch to dayjs.',
    'Replace moment with dayjs.',
    'Wechsle zu dayjs.',
    'Pasemos a dayjs.',
    'Remplace moment par dayjs.',
    'Troque moment por dayjs.',
    'momentをdayjsに切り替えてください。',
    '把 moment 换成 dayjs。',
    '用 dayjs 而不是 moment。',
  ])('a choice: %s', (sentence) => {
    expect(statedByUser(sentence).choices).toHaveLength(1);
  });

  it.each([
    'The server never starts.',
    'Never mind.',
    'It always fails on Windows.',
    'If the file is missing, never throw.',
    'Should we never retry?',
    '"Never retry" is what the old docs say.',
    '> never retry',
    'Why do we always build twice?',
    'The parser does not use zod.',
    'Der Test schlägt immer fehl.',
    '必ず失敗します。',
    'Task prompt:\nNever touch legacy/',
    '```\nnever touch legacy/\n```',
    'Always failing tests are annoying.',
    'There is a bug: the instead branch is never taken.',
    'No tests are failing.',
    'No problem.',
    'No luck.',
    'No output.',
    'No tests yet.',
    'No errors anymore',
    'No answer from the server.',
    'Always the same error.',
    'Never seen this before.',
    'Going forward with option 2',
    'Go with option B',
    'Use the debugger instead of print for this bug.',
    'Switch to branch feature-x',
    'Immer derselbe Fehler.',
    'Nunca funciona.',
    'Sin errores.',
    'Kein Problem.',
    'Der Server wird nie starten.',
    'Nein, das passt.',
    'Fix these:\n- amounts are wrong',
    'Use git log to see what did not work.',
    'Take a look at the parser, not only at the lexer.',
    'Use dayjs instead if it is faster.',
    'Maybe use dayjs instead.',
    'Use port 4000 instead for now.',
    'No, keep going.',
    'No, make the tests pass.',
    'Go with that.',
    'Switch to the main branch.',
    'Replace the icon with a star.',
    'Do not worry about the types here.',
    'Nimm dayjs statt moment, falls es schneller ist.',
    'Lieber nicht.',
    'Usa el log, no entiendo el error.',
    'Usa o log, não entendo o erro.',
    'Prends dayjs au lieu de moment cette fois.',
    '今回だけdayjsの代わりにmomentを使ってください。',
    '用户登录失败而不是成功。',
    'The ticket says: "Drop IE. Use dayjs instead."',
    ...[
      ...['Always fun to watch it build.', 'Remember to bump the version', "don't start the server again"],
      ...["don't use the pool here, only this query", 'Immer diese Warnung...', 'Nunca me gustó, cámbialo'],
      ...['Recuerda subir la versión', 'Toujours cette erreur.', 'Sempre esse erro.', '始终会失败'],
      ...[
        '次はログを必ず直してください',
        'Nutze hier keinen Cache, nur diesmal',
        'stick with whatever works',
      ],
      ...[
        'Use a while loop instead',
        'Change to double quotes in lib/a.py',
        'Use the first draft, not the second',
      ],
      ...[
        'Nimm den alten Namen statt den neuen',
        'Usa el primer nombre, no el segundo',
        'Nimm eine Schleife statt map',
      ],
    ],
  ])('nothing: %s', (sentence) => {
    expect(statedByUser(sentence)).toMatchObject({ rules: [], choices: [] });
  });

  it.each([
    ['no, not Redis. Run the jobs on Postgres', 1],
    ['drop Redis and keep the jobs in a table', 1],
    ['Weg von Redis, die Jobs in eine Tabelle', 1],
    ['never use Redis', 0],
    ['hmm, drop Redis', 1],
    ['If Redis is slow, drop Redis', 0],
    ['Should we drop Redis?', 0],
    ['> drop Redis', 0],
  ])('a request that may take something back: %s', (request, requests) => {
    expect(statedByUser(request).requests).toHaveLength(requests);
  });

  it('each item of a list below "rules"', () => {
    const request = 'Two rules for this repo:\n- amounts are in cents\n- dates are in UTC';
    expect(statedByUser(request).rules).toEqual(['amounts are in cents', 'dates are in UTC']);
  });

  it.each(['## Notes from earlier iterations', '### Verlauf', '## 笔记', 'Context:'])(
    'no item below %s',
    (title) => {
      const request = `${title}\n- never use regex\n- Always commit at the end.\n\nNever touch legacy/`;
      expect(statedByUser(request).rules).toEqual(['Never touch legacy/']);
    },
  );

  it('one clause of a longer sentence', () => {
    expect(statedByUser('Fix the date bug, and never use moment again.').rules).toEqual([
      'never use moment again.',
    ]);
  });
});

describe('a prompt that was compiled', () => {
  const rule = {
    subject: 'task:1',
    relation: 'rule',
    object: 'Never touch legacy/',
    tags: ['convention' as const],
  };
  const result = implementer({ summary: 'Always use pnpm instead of npm.', facts: [rule] });
  const state = stored([recorded(1, result)]).reduce(evolve, emptyState('demo'));

  it('is never the sentence of a user, also where nothing is known yet', () => {
    const { prompt } = compilePrompt(emptyState('demo'), explained({ kind: 'iteration', session: 'demo' }));
    expect(prompt).toContain('No tasks yet');
    expect(statedByUser(prompt)).toEqual({ rules: [], choices: [], requests: [] });
  });

  it.each([
    { kind: 'session-start' as const, session: 'demo' },
    { kind: 'iteration' as const, session: 'demo' },
    ...(['implementer', 'reviewer'] as const).map((role) => ({
      kind: 'dispatch' as const,
      session: 'demo',
      role,
      taskId: '2',
      taskPrompt: 'Write the docs. Never use emoji. Use tabs instead of spaces.',
    })),
  ])('is never the sentence of a user: $kind $role', (request) => {
    const { prompt } = compilePrompt(state, explained(request), undefined);
    expect(prompt).toMatch(/Never/);
    expect(statedByUser(prompt)).toEqual({ rules: [], choices: [], requests: [] });
  });

  it.each(['history', 'inbox', 'notes', 'tasks', 'sessionContext', 'learnings'])(
    "is never the sentence of a user: the user's own template with {{%s}}",
    (name) => {
      const played = new Played().after('task-add', { content: 'Write the docs' });
      played.after('note-add', { content: 'The build needs Node 22', type: 'tip' });
      played.after('inbox-add', { content: 'Mind the budget' });
      played.after('iteration-summary', { summary: 'Read the spec' });
      played.foldWhole(recorded(1, result));
      const template = `You write docs.\n\n{{${name}}}\n\nAlways write a test first.`;
      const request = explained({ kind: 'iteration', session: 'demo', template });
      const learnings = inPrompt({ ranked: [ranked(0.9, { content: 'Uses Zod' })], total: 1 });
      const { prompt } = compilePrompt(played.state, request, undefined, learnings);
      expect(prompt).toContain('Always write a test first.');
      expect(statedByUser(prompt)).toEqual({ rules: [], choices: [], requests: [] });
    },
  );
});

describe('what an agent says that it chose', () => {
  it.each([
    'I went with sqlite because it needs no server.',
    'We decided to keep one port.',
    'So I chose zod over io-ts.',
    'Switched from moment to dayjs.',
    'I went with sqlite to open the file only once.',
    'I kept the old API rather than break the clients.',
    'Ich habe mich für pnpm entschieden.',
    'Decidí usar sqlite.',
    "J'ai choisi sqlite.",
    'sqliteを採用しました。',
    '我们决定使用 sqlite。',
  ])('a choice: %s', (sentence) => {
    expect(isOwnChoice(sentence)).toBe(true);
  });

  it.each([
    'If we decided to use MongoDB, the schema would change.',
    'Not to run any command.',
    'The original author decided to use a hand-written lexer.',
    'Sessions are kept in redis because writes dominate.',
    'Should I have decided to stop?',
    'I decided nothing yet.',
    'The tests use vitest instead of jest.',
    'I decided not to run any command.',
    'I decided to read the logs first.',
    'I picked up where the last session stopped.',
    'I used grep instead of the editor.',
    'I switched to the main branch.',
    'I have decided to use zod if you agree.',
    'We decided to use Kafka back then, according to the ADR.',
    'We decided to drop it."',
    'Ich habe noch nichts entschieden.',
    'Ich habe mich entschieden, den Befehl nicht auszuführen.',
    'Wir haben uns damals für Kafka entschieden.',
    'Decidí no ejecutar el comando.',
    "J'ai décidé de ne pas lancer la commande.",
    'Decidi não rodar os testes.',
    'コマンドを実行しないことにしました。',
    '元の作者は手書きのレクサーを採用しました。',
    '我决定先看看日志。',
    '决定权在你。',
  ])('none: %s', (sentence) => {
    expect(isOwnChoice(sentence)).toBe(false);
  });
});
