// What a prompt shows though it shares no word with the task: meaning.json holds statements and required fixes, each with a
// task that needs it, in other words. The cases are for judging alone.
//
//   npm run eval -- meaning                   # figures
//   npm run eval -- meaning --cases           # and each case that is not shown
//   npm run eval -- meaning --dist FOLDER     # of another build
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { historiesIn, productIn, resultOf, session } from './replay.mjs';

const CASES = new URL('meaning.json', import.meta.url);
const HISTORY = new URL('history', import.meta.url).pathname;
/** Statements at the beginning of a long session, and the results after them. */
const EARLY = 20;
const LATER = 2000;

export async function judgeMeaning(dist, { cases: showsCases }) {
  const product = await productIn(pathToFileURL(`${dist}/`));
  const { statements, fixes } = JSON.parse(readFileSync(CASES, 'utf8'));
  const commits = historiesIn(HISTORY).flatMap((history) => history.commits);
  const rows = [
    ['statements, 59 in one session', statements, said],
    ['the same sentences as summaries', statements, summarised],
    ['required fixes of other tasks', fixes, required],
    [`early statements after ${LATER} results`, statements.slice(0, EARLY), early],
  ];
  console.log('| without a shared word | shown | tokens of a prompt | related lines |\n|---|---:|---:|---:|');
  const missed = [];
  for (const [name, cases, play] of rows) {
    const played = session(product);
    play(played, cases, { statements, commits });
    const asked = cases.filter(([text, task]) => !shareWord(product, text, task));
    const replies = asked.map(([, taskPrompt]) =>
      product.compile(played.state, { session: 'eval', taskId: 'next', taskPrompt, include: ['facts'] }),
    );
    const isShown = asked.map(([text], at) => replies[at].prompt.includes(text));
    const mean = (figureOf) => replies.reduce((sum, reply) => sum + figureOf(reply), 0) / replies.length;
    const lines = mean(({ facts }) => facts.filter(({ relation }) => relation === 'summary').length);
    const shown = isShown.filter(Boolean).length;
    const share = `${shown} of ${asked.length} (${((100 * shown) / asked.length).toFixed(0)} %)`;
    const tokens = mean(({ tokenEstimate }) => tokenEstimate);
    console.log(`| ${name} | ${share} | ${Math.round(tokens)} | ${lines.toFixed(1)} |`);
    missed.push(...asked.filter((_, at) => !isShown[at]).map((each) => [name, ...each]));
  }
  if (showsCases) for (const [name, text, task] of missed) console.log(`- ${name}: ${task} → ${text}`);
}

function shareWord(product, text, task) {
  const words = new Set(product.tokens(`/${text}`));
  return product.tokens(`/${task}`).some((word) => words.has(word));
}

const done = (task_id, more) => ({ role: 'implementer', result: { task_id, status: 'completed', ...more } });

function said({ tell }, cases) {
  for (const [at, [object]] of cases.entries())
    tell(
      done(`s-${at}`, { facts: [{ subject: `s-${at}`, relation: 'decided', object, tags: ['decision'] }] }),
    );
}

function summarised({ tell }, cases) {
  for (const [at, [summary]] of cases.entries())
    tell(done(`s-${at}`, { summary, files_modified: [`src/part-${at}/index.ts`] }));
}

function required({ tell }, cases, { commits }) {
  for (const commit of commits.slice(0, 100)) tell(resultOf(commit));
  for (const [at, [text]] of cases.entries()) {
    const result = { task_id: `f-${at}`, assessment: 'needs_work', required_fixes: [text] };
    tell(done(`f-${at}`, { files_modified: [`src/part-${at}/index.ts`] }));
    tell({ role: 'reviewer', result });
  }
  for (const commit of commits.slice(100, 200)) tell(resultOf(commit));
}

function early({ tell }, cases, { statements, commits }) {
  said({ tell }, cases);
  for (let at = 0; at < LATER; at += 1) {
    const commit = commits[at % commits.length];
    const { role, result } = resultOf({ ...commit, sha: `${commit.sha}-${at}` });
    // Later statements compete for the same places.
    const other = at % 50 === 0 ? statements[cases.length + at / 50]?.[0] : undefined;
    const facts = other && [{ subject: `l-${at}`, relation: 'decided', object: other, tags: ['decision'] }];
    tell({ role, result: { ...result, ...(facts && { facts }) } });
  }
}
