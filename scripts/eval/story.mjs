// What the next agent of a team is told: story.json is some weeks of a team, told by results, turns and commands of people. Then
// fifteen things are judged: `must` in the session start (`in` is empty) or in the prompt of a task, `mustNot` in all of them.
//
//   npm run eval -- story                     # figures
//   npm run eval -- story --cases             # and each thing that is wrong
//   npm run eval -- story --print             # and the session start and all prompts
//
// A step is one result of a role, one `turn`, or one command to `run`; `correct` and `retract` find the id by its words.
import { readFileSync } from 'node:fs';
import { linesOf, onStage, saysIt } from './play.mjs';

const STORY = new URL('story.json', import.meta.url);

/** Plays the story and prints what came of it. */
export function judgeStory(dist, options) {
  return onStage(dist, (newSession) => judge(newSession, options));
}

async function judge(newSession, { print, cases: showsCases }) {
  const { steps, things, done } = JSON.parse(readFileSync(STORY, 'utf8'));
  const session = await newSession('story');
  for (const [index, step] of steps.entries()) await play(session, step, index);
  const texts = new Map();
  const textOf = async (request) => {
    const key = JSON.stringify(request);
    if (!texts.has(key))
      texts.set(
        key,
        request.taskId === undefined ? await session.start('next') : (await session.prompt(request)).prompt,
      );
    return texts.get(key);
  };
  const judged = [];
  for (const { in: request } of things) await textOf(request);
  const everywhere = [...texts.values()].flatMap(linesOf);
  for (const { thing, in: request, must, mustNot = [] } of things) {
    const lines = linesOf(await textOf(request));
    const missing = must.filter((each) => !saysIt(lines, each)).map((each) => `missing: ${each}`);
    const untrue = mustNot
      .filter((each) => saysIt(everywhere, each))
      .map((each) => `must not be there: ${each}`);
    judged.push({ thing, request, faults: [...missing, ...untrue] });
  }
  const left = [...texts.values()].flatMap(linesOf).filter(({ label }) => /^(?:Open|Left to do)/.test(label));
  const stale = left.filter(({ text }) => done.some((each) => text.includes(each)));
  const right = judged.filter(({ faults }) => faults.length === 0);
  const results = steps.filter(({ run }) => run === undefined).length;
  console.log(`\n| ${results} results, ${steps.length - results} commands | |\n|---|---|`);
  console.log(`| things right | ${right.length} of ${judged.length} |`);
  console.log(`| lines of what is left to do that is done | ${stale.length} of ${left.length} |\n`);
  for (const { thing, request, faults } of showsCases ? judged : [])
    for (const fault of faults) console.log(`- ${thing} (${request.taskId ?? 'start'}): ${fault}`);
  if (showsCases)
    for (const text of new Set(stale.map((each) => each.text))) console.log(`- done already: ${text}`);
  if (print) for (const [request, text] of texts) console.log(`\n== ${request}\n${text}`);
}

async function play(session, { run, turn, ...result }, index) {
  if (turn !== undefined) return session.turn(`conversation-${index}`, turn);
  const [role] = Object.keys(result);
  if (role !== undefined) return session.publish(role, result[role]);
  const [command, words, text] = run;
  if (command !== 'correct' && command !== 'retract')
    return session.throughline([...run, '--session', session.id]);
  const facts = JSON.parse(await session.throughline(['facts', '--json', '--text', words]));
  const { ref, id } = facts[0] ?? {};
  const more = command === 'correct' ? [text] : ['--reason', text];
  return session.throughline(['facts', command, ref ?? id, ...more, '--session', session.id]);
}
