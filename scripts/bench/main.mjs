// npm run bench: runs benchmarks, says for each goal whether it is met, and keeps the results.
// Arguments: names of benchmarks, --quick, --json, --check; --keep writes the page even of a quick run, or of some only.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { Shutdown } from '../../dist/engine/runtime/shutdown.js';
import { optionsOrExit } from '../options.mjs';
import { BENCHES } from './benches.mjs';
import { isMet, isRatio, losses } from './goals.mjs';
import { findServer } from './host.mjs';
import { aligned, page, verdict } from './report.mjs';

const PAGE = new URL('../../docs/contributing/benchmarks.md', import.meta.url);
const FIGURES = new URL('../../docs/contributing/benchmarks.txt', import.meta.url);
const RATIOS = new URL('../../docs/contributing/benchmarks.json', import.meta.url);

const { values: options, positionals: names } = optionsOrExit('bench', {
  options: {
    quick: { type: 'boolean' },
    json: { type: 'boolean' },
    check: { type: 'boolean' },
    keep: { type: 'boolean' },
  },
  allowPositionals: true,
});
const unknown = names.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(
    `bench: no benchmark ${unknown.join(', ')}: use ${BENCHES.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}

if (options.check && !existsSync(RATIOS)) {
  console.error(
    'bench: there are no committed ratios yet: run `npm run bench` on a quiet machine and commit docs',
  );
  process.exit(2);
}

let current = new Shutdown();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => current.release(10_000).finally(() => process.exit(1)));
}

const quick = options.quick === true;
const say = options.json ? console.error : console.log;
const busy = loadavg()[0] ?? 0;
const runs = [];
for (const bench of BENCHES) {
  if (names.length > 0 && !names.includes(bench.name)) continue;
  runs.push({ name: bench.name, goals: bench.goals, ...(await run(bench)) });
}

if (busy > cpus().length / 2)
  say(`\nthe machine was busy before the first benchmark (load ${busy.toFixed(1)}): trust no figure`);
const goals = runs.flatMap((each) => each.goals);
const measured = Object.assign({}, ...runs.map((each) => each.measured));
if (options.json) console.log(JSON.stringify({ quick, measured, runs }, undefined, 1));
say('');
for (const goal of goals) say(verdict(goal, measured[goal.id]));
if (options.check) await check();
else if (options.keep || (names.length === 0 && !quick)) await keep();
process.exitCode ||= goals.some((goal) => isMet(goal, measured[goal.id]) === false) && !options.check ? 1 : 0;

async function run(bench) {
  current = new Shutdown();
  const progress = (line) => console.error(`${bench.name}: ${line}`);
  try {
    const result = { notes: [], figures: [], ...(await bench.run({ quick, progress, shutdown: current })) };
    say(`\n${bench.name}\n${aligned(result.figures)}`);
    for (const note of result.notes) say(note);
    return result;
  } finally {
    // What could not be stopped must not hide why the benchmark ended.
    await current.release(30_000).catch((fault) => console.error(`${bench.name}: ${fault.message}`));
  }
}

/** A moment in which something else ran looks like a loss, above all in a p99: what is lost must be lost twice. */
async function check() {
  const committed = JSON.parse(await readFile(RATIOS, 'utf8'));
  const suspects = losses(goals, committed, measured).map(({ goal }) => goal);
  const again = {};
  for (const bench of BENCHES.filter((each) => each.goals.some((goal) => suspects.includes(goal)))) {
    say(`\n${bench.name} seems slower than the committed ratios: once more`);
    Object.assign(again, (await run(bench)).measured);
  }
  const lost = losses(suspects, committed, again);
  for (const { goal, was, is, loss } of lost) {
    say(`lost ${(loss * 100).toFixed(0)} %: ${goal.work}: ${is.toFixed(2)}, was ${was.toFixed(2)}`);
  }
  if (lost.length === 0) say('no ratio is more than 20 % worse than the committed one');
  else process.exitCode = 1;
}

async function keep() {
  const source = await findServer();
  const memory = Math.round(totalmem() / 1024 ** 3);
  const machine = `${process.platform} ${process.arch}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${memory} GiB; load average before the first benchmark: ${busy.toFixed(1)}`;
  const versions = `node ${process.versions.node}, nats-server ${source.version ?? source.image}`;
  const date = new Date().toISOString().slice(0, 10);
  const [beginning] = (await readFile(PAGE, 'utf8')).split('## Speed\n');
  await writeFile(PAGE, beginning + page({ runs, machine, versions, date, quick }));
  const figures = runs.flatMap(({ name, figures }) =>
    figures.map((figure) => ({ name: `${name}: ${figure.name}`, text: figure.text })),
  );
  const verdicts = goals.map((goal) => verdict(goal, measured[goal.id])).join('\n');
  await writeFile(FIGURES, `${verdicts}\n\n${aligned(figures)}\n`);
  const ratios = goals.filter(isRatio).map(({ id }) => [id, round(measured[id])]);
  await writeFile(RATIOS, `${JSON.stringify(Object.fromEntries(ratios), undefined, 2)}\n`);
}

function round(value) {
  return value === undefined ? undefined : Math.round(value * 1000) / 1000;
}
