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
 * The part of the page on the last results, from its heading on.
 *
 * @param runs what was measured: `{ goals, measured, notes }` for each benchmark
 */
export function page({ runs, machine, versions, date, quick }) {
  const goals = runs.flatMap(({ goals, measured }) =>
    goals.map((goal) => ({ goal, value: measured[goal.id] })),
  );
  const open = goals.filter(({ goal, value }) => !isMet(goal, value));
  const rows = open.map(
    ({ goal, value }) =>
      `| ${goal.work} | ${goal.against} | ${limit(goal)} | ${shown(goal, value)} | ${mark(goal, value)} |`,
  );
  const notes = runs.flatMap(({ notes }) => notes.map((note) => `- ${note}`));
  return `${[
    '## Speed',
    '',
    'Written by `npm run bench`. Absolute times belong to one machine and one hour. The ratios count: both sides were measured in turn, in the same',
    `run. ${goals.length - open.length} of ${goals.length} goals are met; \`docs/contributing/benchmarks.txt\` has all goals and figures. Not met:`,
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
    '```sh',
    'npm ci --prefix scripts/bench/bullmq   # for the comparison with BullMQ, and redis-server on the path',
    'npm run bench                          # all; writes this part of the page and its figures',
    'npm run bench -- ingest compile        # some; writes nothing. --quick: smaller',
    'npm run bench -- --check               # exit code 1 if a ratio, measured twice, is more than 20 % worse than the committed one',
    '```',
  ].join('\n')}\n`;
}

function mark(goal, value) {
  const met = isMet(goal, value);
  return met === undefined ? 'not measured' : '**missed**';
}

function limit({ atLeast, atMost, unit }) {
  return atLeast === undefined ? `at most ${atMost} ${unit}` : `at least ${atLeast} ${unit}`;
}

function shown(goal, value) {
  if (value === undefined) return '–';
  return `${value.toFixed(isRatio(goal) ? 2 : 1)} ${goal.unit}`;
}
