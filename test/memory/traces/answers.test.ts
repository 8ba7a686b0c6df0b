import { describe, expect, it } from 'vitest';
import { answerTo, optionNamed, optionsIn } from '../../../src/memory/traces/answers.js';

const LIST = ['in Redis', 'in a signed cookie'];
/** The answer to the last of some questions, as ` | `, without the question if it is that one. */
function answered(asked: string, reply: string, options: readonly string[] = []) {
  const questions = asked.split(' | ');
  return answerTo({ questions, options }, reply)?.replace(`${questions.at(-1)} The user: `, '');
}

describe('a short reply', () => {
  it.each([
    ['404 or 410?', 'no console.log in lib/ please|no, look at it first|410 is wrong'],
    ['Shard by tenant?', 'no Prisma please|no clue, look what the old code does|yes and no|410'],
    [
      'npm or pnpm?',
      'first repair the build|hold on a second|wait, a second|un segundo|yes|the npm tests fail|no npm, please',
    ],
    ['npm oder pnpm?', '最初に失敗しているテストを直して|zuerst den Test reparieren'],
    ['Which port does it use?', 'the port is taken|yes'],
    ['Shard by tenant? | Version the API?', 'yes'],
  ])('is not an answer to %s: %s', (asked, replies) => {
    for (const reply of replies.split('|')) expect(answered(asked, reply), reply).toBeUndefined();
  });

  it.each([
    ['Shard by tenant?', 'no, a table each'],
    ['Sollen wir die API versionieren?', 'ja, bitte'],
    ['¿Versionamos la API?', 'sí'],
    ['npm or pnpm?', 'pnpm because it is faster'],
    ['Do you want PostgreSQL or SQLite?', "let's go with SQLite"],
    ['Which port should it use?', 'port 4000, as before'],
    ['npmとpnpmのどちらにしますか？', 'pnpmで'],
    ['用 npm 还是 pnpm？', '用pnpm吧'],
    ['How many retries?', '2'],
    ['npm or pnpm?', 'both'],
  ])('is the answer: %s %s', (asked, reply) => {
    expect(answered(asked, reply)).toBe(`"${reply}"`);
  });

  const PLACES =
    'the second one please|b|option 2|die zweite|la segunda|a segunda|le dernier|後者で|2つ目|二つ目で|第二个吧';
  it.each(PLACES.split('|'))('names an option by its place: %s', (reply) => {
    expect(answered('Where to?', reply, LIST)).toBe(`"${reply}": in a signed cookie`);
    expect(answered('Redis or Memcached?', reply)).toBe(`"${reply}": Memcached`);
  });

  it('a number is a place only where a list stands at a question with "which", else a value', () => {
    expect(answered('Which one?', '2', LIST)).toBe('"2": in a signed cookie');
    expect(answered('Which code?', '410', LIST)).toBe('"410"');
    expect(answered('How many retries?', '2', LIST)).toBe('"2"');
    expect(answered('Should expired links give 404 or 410? | Shard by tenant?', '410')).toMatch(
      /^Should expired/,
    );
  });

  it('the options of a question', () => {
    expect(optionsIn('Which port, 3000 or 4000?')).toEqual(['3000', '4000']);
    expect(optionsIn('Before I go on, should it live in Redis or in a cookie?')).toEqual([
      'in Redis',
      'in a cookie',
    ]);
    expect(optionsIn('¿Quieres npm, pnpm o yarn?')).toEqual(['npm', 'pnpm', 'yarn']);
    expect(optionsIn('Devo usar o Redis?')).toEqual([]);
  });
});

describe('an option that a reply names', () => {
  it.each([
    ['2', '9090'],
    ['option 2', '9090'],
    ['b', '9090'],
    ['the second one', '9090'],
    ['the last', '9090'],
    ['9464', '9464'],
    ['3', undefined],
    ['Use 9464', undefined],
    ['', undefined],
  ])('is by its words or its place, for %j', (reply, option) => {
    expect(optionNamed('Which port?', ['9464', '9090'], reply)).toBe(option);
  });

  it('is not by a number that says how many, or that may be an option itself', () => {
    expect(optionNamed('How many retries?', ['three', 'ten'], '2')).toBeUndefined();
    expect(optionNamed('Which worker count?', ['1', '2', '8'], '3')).toBeUndefined();
    expect(optionNamed('Which worker count?', ['1', '2', '8'], 'the third')).toBe('8');
    expect(optionNamed('Which name?', ['Lexer', 'Parser'], 'parser')).toBe('Parser');
  });
});
