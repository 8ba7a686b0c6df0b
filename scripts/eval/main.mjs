// How well prompts show what a task needs, measured on the histories of real projects.
//
//   npm run eval                              # the histories in test/fixtures/history
//   npm run eval -- --data FOLDER             # your own: one {"sha","subject","files"} a line, oldest first
//   npm run eval -- --dist FOLDER --json      # another build, as JSON
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { historiesIn, mean, measureFiles, measurePlants, productIn, seeded } from './replay.mjs';

const ROOT = new URL('../../', import.meta.url);
const DISTANCES = [5, 20, 50, 100, 200, 500];

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: new URL('test/fixtures/history', ROOT).pathname },
    dist: { type: 'string', default: new URL('dist', ROOT).pathname },
    seed: { type: 'string', default: '16' },
    json: { type: 'boolean', default: false },
  },
});

const product = await productIn(pathToFileURL(`${options.dist}/`));
const histories = historiesIn(options.data);
const random = seeded(Number(options.seed));
const files = [];
const plants = [];
for (const history of histories) {
  console.error(history.name);
  files.push(measureFiles(product, history));
  plants.push(...measurePlants(product, history, DISTANCES, random));
}
const all = Object.fromEntries(
  Object.keys(files[0] ?? {}).map((key) => [
    key,
    key === 'name' ? 'mean' : mean(files.map((each) => each[key])),
  ]),
);
const planted = groups(plants);
if (options.json) console.log(JSON.stringify({ files, mean: all, planted }, undefined, 1));
else print();

function groups(found) {
  const by = (key) => {
    const names = [...new Set(found.map((each) => each[key]))];
    return names.map((name) => {
      const some = found.filter((each) => each[key] === name);
      return { name: String(name), asked: some.length, shown: mean(some.map(({ shown }) => Number(shown))) };
    });
  };
  return [
    ...by('kind'),
    ...by('half'),
    ...by('words'),
    ...by('distance').map((each) => ({ ...each, name: `${each.name} results ago` })),
    { name: 'all', asked: found.length, shown: mean(found.map(({ shown }) => Number(shown))) },
  ];
}

function print() {
  const three = (value) => value.toFixed(3);
  const rows = [...files, all].map((each) => [
    each.name,
    Math.round(each.asked),
    ...[each.recall5, each.recall10, each.recall20, each.mrr].map(three),
    Math.round(each.tokens),
    ...[each.p50, each.p99].map((ms) => ms.toFixed(2)),
  ]);
  table(
    ['history', 'asked', 'recall@5', 'recall@10', 'recall@20', 'MRR', 'tokens', 'p50 ms', 'p99 ms'],
    rows,
  );
  console.log('');
  table(
    ['planted', 'asked', 'shown'],
    planted.map(({ name, asked, shown }) => [name, asked, `${(shown * 100).toFixed(1)} %`]),
  );
}

function table(head, rows) {
  console.log(
    `| ${head.join(' | ')} |\n|${head.map((_, index) => (index === 0 ? '---|' : '---:|')).join('')}`,
  );
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
}
