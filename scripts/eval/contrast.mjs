// Which new statements end an older one without naming it: each pair of contrast.json is said in a session of its own, by two
// turns with a labelled line, beside five statements about other things.
//
//   npm run eval -- contrast                  # figures
//   npm run eval -- contrast --cases          # and each pair that came out wrong
//
// `contradict`: the newer ends the older. `lookAlike`: both hold. `throughline facts` says what holds. A pair is wrong, too, if
// one of the five others ended or the newer does not hold.
import { readFileSync } from 'node:fs';
import { inTurn, onStage } from './play.mjs';

const PAIRS = new URL('contrast.json', import.meta.url);
const AT_ONCE = 3;

export function judgeContrast(dist, { cases }) {
  return onStage(dist, (newSession) => judge(newSession, cases));
}

async function judge(newSession, showsCases) {
  const { beside, contradict, lookAlike } = JSON.parse(readFileSync(PAIRS, 'utf8'));
  const told = (pairs) =>
    inTurn(pairs, AT_ONCE, async ([language, older, newer]) => {
      const session = await newSession('contrast');
      const others = beside[language];
      await session.turn('first', turnOf([older, ...others]));
      await session.turn('second', turnOf([newer]));
      const facts = JSON.parse(await session.throughline(['facts', '--json']));
      const holds = (text) => facts.some((fact) => saysOnly(fact, text));
      const unharmed = holds(newer) && others.every(holds);
      return { language, older, newer, ended: !holds(older), unharmed };
    });
  const ended = await told(contradict);
  const kept = await told(lookAlike);
  const right = ended.filter((each) => each.ended && each.unharmed);
  const wrong = kept.filter((each) => each.ended || !each.unharmed);
  console.log('| language | contradict: replaced | look alike: wrongly ended |\n|---|---:|---:|');
  for (const language of Object.keys(beside)) {
    const of = (pairs) => pairs.filter((each) => each.language === language).length;
    console.log(`| ${language} | ${of(right)} of ${of(ended)} | ${of(wrong)} of ${of(kept)} |`);
  }
  console.log(`| all | ${right.length} of ${ended.length} | ${wrong.length} of ${kept.length} |\n`);
  if (!showsCases) return;
  for (const each of ended.filter((pair) => !right.includes(pair))) print('not replaced', each);
  for (const each of wrong) print('wrongly ended', each);
}

function turnOf(statements) {
  const lines = statements.map((text) => `Decided: ${text}`);
  const said = ['The step is finished, and all checks pass.', '', ...lines].join('\n');
  return { asked: 'Go on with the next step.', tools: [{ edit: 'src/app.ts' }], said };
}

/** True if a fact has a field with this text and no other; what it replaces is said elsewhere. */
function saysOnly(fact, text) {
  const [said, wanted] = [fact.object ?? fact.text, text].map((each) => each.replace(/[.。]$/, ''));
  return said === wanted;
}

function print(what, { language, older, newer, unharmed }) {
  console.log(`- ${what}${unharmed ? '' : ' (another one is gone)'}, ${language}: ${older} / ${newer}`);
}
