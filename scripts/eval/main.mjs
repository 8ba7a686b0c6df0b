// How well prompts show what a task needs, measured on the histories of real projects.
//
//   npm run eval                              # the histories in scripts/eval/history
//   npm run eval -- --data FOLDER             # your own: one {"sha","subject","files"} a line, oldest first
//   npm run eval -- --dist FOLDER --json      # another build, as JSON
//   npm run eval -- turns                     # what the next session is told after everyday turns: see turns.mjs
//   npm run eval -- contrast                  # which new statements end an older one: see contrast.mjs
//   npm run eval -- meaning                   # what is found without a shared word: see meaning.mjs
//   npm run eval -- story                     # what the next agent of a team is told: see story.mjs
//   npm run eval -- done                      # what prompts show as left to do that is done: see done.mjs
//   npm run eval -- locomo --data FILE        # what `recall` finds in long conversations: see locomo.mjs
//
// turns, contrast, meaning and story have cases that are held out: nobody writes a rule for them. So a failing one is only counted; "--cases" shows it.
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { judgeContrast } from './contrast.mjs';
import { judgeDone } from './done.mjs';
import { judgeLocomo } from './locomo.mjs';
import { judgeMeaning } from './meaning.mjs';
import {
  historiesIn,
  mean,
  measureFiles,
  measureLasting,
  measurePlants,
  measureUse,
  productIn,
  seeded,
} from './replay.mjs';
import { judgeStory } from './story.mjs';
import { judgeTurns } from './turns.mjs';

const ROOT = new URL('../../', import.meta.url);
const DISTANCES = [5, 20, 50, 100, 200, 500];

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: 'string' },
    dist: { type: 'string', default: new URL('dist', ROOT).pathname },
    seed: { type: 'string', default: '16' },
    json: { type: 'boolean', default: false },
    print: { type: 'boolean', default: false },
    cases: { type: 'boolean', default: false },
  },
});

const JUDGED = {
  turns: judgeTurns,
  contrast: judgeContrast,
  done: judgeDone,
  meaning: judgeMeaning,
  story: judgeStory,
  locomo: judgeLocomo,
};
const [name] = positionals;
if (name !== undefined) {
  const judge = JUDGED[name];
  if (judge === undefined) {
    console.error(`eval: ${JSON.stringify(name)} is not one of ${Object.keys(JUDGED).join(', ')}`);
    process.exit(2);
  }
  await judge(options.dist, options);
  process.exit();
}
const product = await productIn(pathToFileURL(`${options.dist}/`));
const histories = historiesIn(options.data ?? new URL('scripts/eval/history', ROOT).pathname);
const random = seeded(Number(options.seed));
const files = [];
const plants = [];
const use = [];
const lasting = [];
for (const history of histories) {
  console.error(history.name);
  files.push(measureFiles(product, history));
  use.push(...measureUse(product, history));
  plants.push(...measurePlants(product, history, DISTANCES, random));
  lasting.push(...measureLasting(product, history, [20, 100, 500], [20, 40]));
}
const all = Object.fromEntries(
  Object.keys(files[0] ?? {}).map((key) => [
    key,
    key === 'name' ? 'mean' : mean(files.map((each) => each[key])),
  ]),
);
const planted = groups(plants);
const rooms = [...new Set(use.map(({ room }) => room))].map((room) => {
  const some = use.filter((each) => each.room === room);
  const meanOf = (key) => mean(some.map((each) => each[key]));
  const sum = (key) => some.reduce((total, each) => total + each[key], 0);
  return {
    room,
    asked: some.length,
    tokens: meanOf('tokens'),
    chance: meanOf('chance'),
    hit: meanOf('hit'),
    share: meanOf('share'),
    lines: meanOf('lines'),
    collapsed: meanOf('collapsed'),
    useful: (sum('useful') + sum('likelyRight')) / (sum('lines') + sum('likely')),
    focused: sum('focused') / sum('lines'),
    likely: meanOf('likely'),
    likelyPrecision: sum('likelyRight') / sum('likely'),
    likelyRecall: sum('likelyRight') / sum('touched'),
    perhaps: meanOf('perhaps'),
    perhapsPrecision: sum('perhapsRight') / sum('perhaps'),
    perhapsRecall: sum('perhapsRight') / sum('touched'),
  };
});
if (options.json) console.log(JSON.stringify({ files, mean: all, planted, rooms, lasting }, undefined, 1));
else print();

function groups(found) {
  const by = (key) => {
    const names = [...new Set(found.map((each) => each[key]))];
    return names.map((name) => {
      const some = found.filter((each) => each[key] === name);
      return { name: String(name), ...shares(some) };
    });
  };
  return [
    ...by('kind'),
    ...by('half'),
    ...by('words'),
    ...by('distance').map((each) => ({ ...each, name: `${each.name} results ago` })),
    { name: 'all', ...shares(found) },
  ];
}

function shares(some) {
  const share = (which) => mean(some.map((each) => Number(each[which])));
  return { asked: some.length, shown: share('shown'), inPrompt: share('inPrompt') };
}

function print() {
  const three = (value) => value.toFixed(3);
  const rows = [...files, all].map((each) => [
    each.name,
    Math.round(each.asked),
    ...[each.recall5, each.recall10, each.recall20, each.mrr].map(three),
    ...[each.ten, each.tokens].map(Math.round),
    ...[each.p50, each.p99].map((ms) => ms.toFixed(2)),
  ]);
  table(
    [
      ...['history', 'asked', 'recall@5', 'recall@10', 'recall@20', 'MRR'],
      ...['tokens: ten facts', 'default', 'p50 ms', 'p99 ms'],
    ],
    rows,
  );
  console.log('');
  table(
    ['planted', 'asked', 'among ten facts', 'in the prompt'],
    planted.map(({ name, asked, ...shown }) => [name, asked, ...[shown.shown, shown.inPrompt].map(percent)]),
  );
  console.log('');
  table(
    [
      'the prompt holds',
      'asked',
      'tokens',
      'of use by chance',
      'prompts with a line of use',
      'of these facts, shown',
      'work lines',
      'of these and the likely files, useful',
      'of the lines, a fifth of its files touched',
      'collapsed',
    ],
    rooms.map(({ room, asked, tokens, lines, useful, focused, collapsed, ...shares }) => [
      ...[room, asked, Math.round(tokens)],
      ...[shares.chance, shares.hit, shares.share].map(percent),
      ...[lines.toFixed(1), percent(useful), percent(focused), collapsed.toFixed(1)],
    ]),
  );
  console.log('');
  printLasting();
  console.log('');
  table(
    ['the prompt holds', 'likely files', 'precision', 'recall', 'perhaps', 'precision', 'recall'],
    rooms.map((each) => [
      each.room,
      ...[each.likely.toFixed(1), percent(each.likelyPrecision), percent(each.likelyRecall)],
      ...[each.perhaps.toFixed(1), percent(each.perhapsPrecision), percent(each.perhapsRecall)],
    ]),
  );
}

function printLasting() {
  const groups = [...new Set(lasting.map(({ count, distance }) => `${count} ${distance}`))];
  table(
    ['decisions and conventions', 'results ago', 'asked', 'without a shared word, shown', 'tokens more'],
    groups.map((group) => {
      const some = lasting.filter(({ count, distance }) => `${count} ${distance}` === group);
      const meanOf = (key) => mean(some.map((each) => each[key]));
      return [...group.split(' '), some.length, percent(meanOf('shown')), Math.round(meanOf('more'))];
    }),
  );
}

function percent(share) {
  return `${(share * 100).toFixed(1)} %`;
}

function table(head, rows) {
  console.log(
    `| ${head.join(' | ')} |\n|${head.map((_, index) => (index === 0 ? '---|' : '---:|')).join('')}`,
  );
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
}
