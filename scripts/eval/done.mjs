// What prompts show as left to do that is done: each result of a history leaves to do what one of the next 200 commits is about.
// A part of these commits never happens, so what they are about stays open.
//
//   npm run eval -- done                      # the histories in scripts/eval/history
//   npm run eval -- done --data FOLDER        # your own
//   npm run eval -- done --cases              # and each line that is wrong
import { pathToFileURL } from 'node:url';
import { historiesIn, productIn, resultOf, seeded, session } from './replay.mjs';

/** Results of a session. */
const RESULTS = 2000;
/** Commits until an action is done. */
const AHEAD = 200;
/** Share of the commits that never happen. */
const NEVER = 0.15;
/** Results between two starts with a prompt each. */
const EVERY = 50;

export async function judgeDone(dist, { data, seed, cases: showsCases }) {
  const product = await productIn(pathToFileURL(`${dist}/`));
  const folder = data ?? new URL('history', import.meta.url).pathname;
  const commits = historiesIn(folder).flatMap((history) => history.commits);
  const cases = new Set();
  const counts = [true, false].map((isWhole) => {
    const random = seeded(Number(seed));
    const found = { shown: 0, done: 0, over: 0, open: 0, actions: 0, wrong: 0 };
    for (let at = 0; at < commits.length; at += RESULTS)
      measure(product, commits.slice(at, at + RESULTS), { random, found, cases, isWhole });
    return found;
  });
  const row = (part, whole) =>
    counts.map((found) => `${Math.round((1000 * found[part]) / found[whole]) / 10} % of ${found[whole]}`);
  console.log(`\n| ${commits.length} results, in sessions of ${RESULTS} | in its words | in four of five |`);
  console.log('|---|---|---|');
  console.log(`| shown as left to do, but done | ${row('done', 'shown').join(' | ')} |`);
  console.log(`| done, but not ended | ${row('open', 'over').join(' | ')} |`);
  console.log(`| not done, but ended | ${row('wrong', 'actions').join(' | ')} |`);
  for (const text of showsCases ? cases : []) console.log(`- ${text}`);
}

function measure(product, commits, { random, found, cases, isWhole }) {
  const { state, tell } = session(product);
  const isNever = commits.map(() => random() < NEVER);
  /** By action: the result that does it; none for one that never happens. */
  const doneAt = new Map();
  for (const [index, commit] of commits.entries()) {
    if (isNever[index]) continue;
    const ahead = index + 1 + Math.floor(random() * AHEAD);
    const action = actionOf(commits[ahead]);
    const words = commit.subject.split(' ').filter((_, place) => isWhole || place % 5 !== 4);
    const { role, result } = resultOf({ ...commit, subject: words.join(' ') });
    const isNew = action !== undefined && !doneAt.has(action);
    if (isNew) found.actions += 1;
    if (isNew) doneAt.set(action, isNever[ahead] ? undefined : ahead);
    tell({ role, result: isNew ? { ...result, follow_up_actions: [action] } : result }, commit.at);
    for (const { relation, object, ended, closedBy } of product.factsOf(state).all()) {
      const due = doneAt.get(object);
      if (relation !== 'requires' || (due !== index && closedBy !== state.sequence)) continue;
      const isEnded = ended?.how === 'done';
      if (due === index) found.over += 1;
      if (due === index && !isEnded) found.open += 1;
      if (due === index && !isEnded) cases.add(`still open: ${object} <- ${commit.subject}`);
      if (!isEnded || due <= index) continue;
      found.wrong += 1;
      cases.add(`ended too early: ${object} <- ${commit.subject}`);
    }
    if (index % EVERY !== EVERY - 1) continue;
    const start = { kind: 'session-start', session: 'eval', include: ['facts'] };
    const prompt = { session: 'eval', taskId: 'next', taskPrompt: commits[index + 1]?.subject ?? 'go on' };
    for (const request of [start, { ...prompt, include: ['facts'] }])
      for (const { relation, object } of product.compile(state, request).facts) {
        if (relation !== 'requires') continue;
        found.shown += 1;
        if (!(doneAt.get(object) <= index)) continue;
        found.done += 1;
        cases.add(`done: ${object} <- ${commits[doneAt.get(object)].subject}`);
      }
  }
}

/** The words of a commit as an action, without its kind and number. */
function actionOf(commit) {
  const text = commit?.subject.replace(/^\w+(?:\([^)]*\))?!?:\s*/, '').replace(/\s*\(#\d+\)$/, '');
  return text === undefined || /^(?:merge|v?\d|release|bump)/i.test(text) ? undefined : text;
}
