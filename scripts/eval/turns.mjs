// What the next session is told after everyday turns: each case of turns.json is played through the hooks, once by an agent that
// ends its last message with labelled lines and once by an agent that writes none, and the next session start is judged.
//
//   npm run eval -- turns                     # figures
//   npm run eval -- turns --cases             # and each wrong judgement
//   npm run eval -- turns --print             # and what each next session starts with
//
// `must` and `mustNot` are `LABELS: expression`: some line, or no line, under these labels says it. `before` are lines of an
// earlier conversation, labelled in both rounds; `{name}` is the id of the line that the start showed for `ids.name`.
import { readFileSync } from 'node:fs';
import { inTurn, labelsOf, linesOf, onStage, refOf, saysIt, tokenCounter } from './play.mjs';

const CASES = new URL('turns.json', import.meta.url);
/** Labels under which a line holds for later agents. */
const HOLDS = ['Decided', 'Rule', 'Failed', 'Found', 'Open'];
const AT_ONCE = 3;

/** Plays all cases and prints what came of them. */
export function judgeTurns(dist, options) {
  return onStage(dist, (newSession) => judge(newSession, options));
}

async function judge(newSession, { print, cases: showsCases }) {
  const cases = JSON.parse(readFileSync(CASES, 'utf8'));
  const countTokens = await tokenCounter();
  for (const labelled of [true, false]) {
    const played = await inTurn(cases, AT_ONCE, (each) => play(newSession, each, labelled));
    const judged = played.flatMap(({ judgements }) => judgements);
    const whole = played.filter(({ judgements }) => judgements.every(({ right }) => right));
    const decided = played.flatMap((each) => each.decided);
    const tokens = played.map(({ start }) => countTokens(start));
    console.log(
      `\n## ${labelled ? 'With labelled lines' : 'Without any labelled line'}: ${cases.length} cases\n`,
    );
    console.log(`| judgements right | ${rightOf(judged)} |\n|---|---|`);
    console.log(`| of what must be there | ${rightOf(judged.filter(({ isWanted }) => isWanted))} |`);
    console.log(`| of what must not be there | ${rightOf(judged.filter(({ isWanted }) => !isWanted))} |`);
    console.log(`| cases with no wrong judgement | ${whole.length} of ${played.length} |`);
    for (const language of new Set(cases.map((each) => each.language))) {
      const some = played.filter((each) => each.language === language).flatMap((each) => each.judgements);
      console.log(`| ${language} | ${rightOf(some)} |`);
    }
    const untrue = decided.filter(({ isFalse }) => isFalse);
    const old = untrue.filter(({ isOld }) => isOld);
    console.log(
      `| false ones under Decided | ${untrue.length} of ${decided.length}, ${old.length} of them reversed by the turn |`,
    );
    const turned = played.filter((each) => each.isReversal);
    const replaced = turned.filter((each) => each.judgements.every((judgement) => judgement.right));
    console.log(
      `| decisions reversed, and only the new one holds | ${replaced.length} of ${turned.length} |`,
    );
    console.log(`| said twice | ${played.filter((each) => each.twice).length} cases |`);
    console.log(`| tokens of the start, mean and most | ${mean(tokens)}, ${Math.max(...tokens)} |\n`);
    for (const { name, language, judgements, decided, twice } of showsCases ? played : []) {
      const wrong = judgements.filter((each) => !each.right).map(({ said }) => said);
      const untrue = decided.filter((each) => each.isFalse).map(({ text }) => `false under Decided: ${text}`);
      for (const line of [...wrong, ...untrue, ...(twice ? ['said twice'] : [])])
        console.log(`- ${language}, ${name}: ${line}`);
    }
    if (print) for (const { start } of played) console.log(`\n${start}\n`);
  }
}

async function play(
  newSession,
  { name, language, before = [], ids = {}, turns, must = [], mustNot = [] },
  labelled,
) {
  const session = await newSession('turns');
  if (before.length > 0) {
    const said = ['Done.', '', ...before].join('\n');
    await session.turn('before', { asked: 'Set the project up.', tools: [{ edit: 'README.md' }], said });
  }
  const known = await session.start('now');
  for (const { lines = [], said, ...turn } of turns) {
    const named = lines.map((line) => line.replace(/\{(\w+)\}/g, (_, id) => refOf(known, ids[id])));
    await session.turn('now', { ...turn, said: labelled ? [said, '', ...named].join('\n') : said });
  }
  const start = await session.start('next');
  const shown = linesOf(start);
  const judgements = [
    ...must.map((each) => ({ said: `missing: ${each}`, isWanted: true, right: saysIt(shown, each) })),
    ...mustNot.map((each) => ({
      said: `must not be there: ${each}`,
      isWanted: false,
      right: !saysIt(shown, each),
    })),
  ];
  const expected = must.filter((each) => labelsOf(each).test('Decided'));
  const decided = shown
    .filter(({ label }) => label === 'Decided')
    .map(({ text, ...line }) => ({
      text,
      isFalse: !expected.some((each) => saysIt([{ ...line, text }], each)),
      isOld: before.some((each) => text.startsWith(each.replace(/^Decided: /, ''))),
    }));
  const held = shown.filter(({ label }) => HOLDS.includes(label));
  const twice = must.some((each) => held.filter((line) => saysIt([line], each)).length > 1);
  const isReversal = before.some((line) => line.startsWith('Decided:'));
  return { name, language, judgements, decided, isReversal, twice, start };
}

function rightOf(judgements) {
  const right = judgements.filter((each) => each.right).length;
  return `${right} of ${judgements.length}: ${((right / judgements.length) * 100).toFixed(0)} %`;
}

function mean(values) {
  return Math.round(values.reduce((total, each) => total + each, 0) / values.length);
}
