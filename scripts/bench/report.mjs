// The report: lines for a terminal, and docs/contributing/benchmarks.md. Pure.
import { isMet, isRatio } from './goals.mjs';

/** One line on whether a goal was met. */
export function verdict(goal, value) {
  const met = isMet(goal, value);
  const word = met === undefined ? 'not measured' : met ? 'met' : 'missed';
  return `${word.padEnd(12)} ${goal.work}: ${shown(goal, value)}, ${limit(goal)} (${goal.against})`;
}

/** Figures as an aligned table: rows of name and text. */
export function aligned(figures) {
  const width = Math.max(0, ...figures.map(({ name }) => name.length));
  return figures.map(({ name, text }) => `${name.padEnd(width)}  ${text}`).join('\n');
}

/**
 * The page of the last results.
 *
 * @param runs what was measured: `{ goals, measured, figures, notes }` for each benchmark
 */
export function page({ runs, machine, versions, date, quick }) {
  const goals = runs.flatMap(({ goals, measured }) =>
    goals.map((goal) => ({ goal, value: measured[goal.id] })),
  );
  const rows = goals.map(
    ({ goal, value }) =>
      `| ${goal.work} | ${goal.against} | ${limit(goal)} | ${shown(goal, value)} | ${mark(goal, value)} |`,
  );
  const figures = runs.flatMap(({ name, figures }) =>
    figures.map((figure) => `| ${name} | ${figure.name} | ${figure.text} |`),
  );
  const notes = runs.flatMap(({ notes }) => notes.map((note) => `- ${note}`));
  return `${[
    '# Benchmarks',
    '',
    'How fast it is, beside something to compare it with: written by `npm run bench`. Absolute times belong to one machine and one',
    'hour. What counts is the ratio of things that were measured side by side, in turn, in the same run.',
    '',
    `- ${date}${quick ? ', with `--quick`: smaller and less exact' : ''}`,
    `- ${machine}`,
    `- ${versions}`,
    '',
    '| work | compared with | goal | measured | |',
    '|---|---|---|---|---|',
    ...rows,
    ...(notes.length === 0 ? [] : ['', ...notes]),
    '',
    '## Figures',
    '',
    '| benchmark | what | figure |',
    '|---|---|---|',
    ...figures,
    '',
    '## Again',
    '',
    '```sh',
    'npm ci',
    'npm ci --prefix scripts/bench/bullmq   # for the comparison with BullMQ, and redis-server on the path',
    'npm run bench                          # all; writes this page and docs/contributing/benchmarks.json',
    'npm run bench -- --quick               # smaller; writes nothing',
    'npm run bench -- ingest compile        # some; writes nothing',
    'npm run bench -- --check               # exit code 1 where a ratio, measured twice, is more than 20 % worse than the committed one both times',
    '```',
  ].join('\n')}\n`;
}

function mark(goal, value) {
  const met = isMet(goal, value);
  return met === undefined ? 'not measured' : met ? 'met' : '**missed**';
}

function limit({ atLeast, atMost, unit }) {
  return atLeast === undefined ? `at most ${atMost} ${unit}` : `at least ${atLeast} ${unit}`;
}

function shown(goal, value) {
  if (value === undefined) return '–';
  return `${value.toFixed(isRatio(goal) ? 2 : 1)} ${goal.unit}`;
}
