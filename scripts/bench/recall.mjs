// What memory is worth: tasks that need a fact which an earlier result said, 10 to 200 results before, among others. The agent
// is scripted: it solves a task if its prompt holds the value that the task needs, and fails otherwise. So this measures
// what prompts hold, and not what a model makes of them.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectThroughline } from '../../dist/index.js';
import { tokens } from '../../dist/memory/search/tokens.js';
import { runPlan } from '../../dist/work.js';
import { goalsOf } from './goals.mjs';
import { startServer, startThroughline, temporaryDir } from './host.mjs';
import { memoryPlan } from './memory-plans.mjs';

const PLANS = 50;
const BUCKETS = [
  [10, 49],
  [50, 99],
  [100, 200],
];

export default {
  name: 'recall',
  goals: goalsOf(`
    recall.newest | recall: tasks of 50 plans that a scripted agent solves, as it needs a fact from 10 to 200 results before | the newest results pasted into a prompt of the same size | at least 2 times
  `),
  run,
};

async function run({ quick, progress, shutdown }) {
  const server = await startServer(shutdown);
  const folder = await temporaryDir(shutdown);
  await startThroughline(['admin', 'serve'], server.url, shutdown, { THROUGHLINE_TASKS_ROOTS: folder });
  const client = await connectThroughline({ url: server.url, timeoutMs: 30_000 });
  shutdown.add('the client', () => client.close());
  const outcomes = [];
  for (let number = 1; number <= (quick ? 10 : PLANS); number += 1) {
    outcomes.push(...(await solved(client, memoryPlan(number), folder)));
    if (number % 10 === 0) progress(`${number} plans: ${told(outcomes, 'throughline')} with Throughline`);
  }
  const [ours, newest] = ['throughline', 'newest'].map((way) => count(outcomes, way));
  const sharing = outcomes.filter(({ shares }) => shares);
  const others = outcomes.filter(({ shares }) => !shares);
  const row = (name, some) => ({
    name,
    text: `Throughline ${told(some, 'throughline')}, newest results ${told(some, 'newest')}, no memory ${told(some, 'none')}`,
  });
  return {
    measured: { 'recall.newest': ours / Math.max(1, newest) },
    figures: [
      row('tasks solved', outcomes),
      ...BUCKETS.map(([from, to]) =>
        row(
          `fact ${from} to ${to} results before`,
          outcomes.filter(({ distance }) => distance >= from && distance <= to),
        ),
      ),
      row('task and fact name the area by a word in common', sharing),
      row('task and fact have no word of the area in common', others),
    ],
    notes: [
      'recall: the agent is scripted. It solves a task if its prompt holds the value that the task needs: that says what prompts hold, and not what a model makes of them.',
      'recall: facts and tasks are worded by chance from lists of names of the same area and property; nothing in them is tuned to how facts are ranked.',
    ],
  };
}

/** The outcome of each task of a plan, by each way. */
async function solved(client, { number, results, tasks }, folder) {
  const session = `value-${number}`;
  let last;
  for (const result of results)
    last = await client.publishText(session, 'implementer', JSON.stringify(result));
  await client.compile({ session, taskId: 'ready', taskPrompt: 'Wait', after: last.sequence });
  const plan = join(folder, `${session}.md`);
  await writeFile(plan, tasks.map(({ id, text }) => `- [ ] ${id} ${text}\n`).join(''));
  const prompts = new Map();
  const needed = (task) => tasks.find(({ id }) => id === task)?.value;
  const ran = await runPlan({
    client,
    plan,
    session,
    maxRounds: 1,
    onStall: 'skip',
    implementer: async ({ task, prompt }) => {
      prompts.set(task, prompt);
      return answer(task, prompt.includes(needed(task)));
    },
    check: async ({ task }) => ({
      passed: prompts.get(task).includes(needed(task)),
      command: 'the value is used',
    }),
  });
  const without = await Promise.all(
    tasks.map(({ id, text }) => client.compile({ session: `${session}-none`, taskId: id, taskPrompt: text })),
  );
  return tasks.map(({ id, text, value, fact, distance }, index) => {
    const bare = without[index];
    const pasted = newestResults(results, (prompts.get(id)?.length ?? 0) - bare.prompt.length);
    return {
      distance,
      shares: shareStem(text.split(':')[0], fact),
      throughline: ran.tasks.find(({ task }) => task === id)?.outcome === 'approved',
      none: bare.prompt.includes(value),
      newest: `${bare.prompt}\n${pasted}`.includes(value),
    };
  });
}

function answer(task_id, isSolved) {
  const status = isSolved ? 'completed' : 'failed';
  return `BEGIN_DISPATCH_RESULT\n${JSON.stringify({ task_id, status, summary: 'Tried' })}\nEND_DISPATCH_RESULT`;
}

/** The newest results that fit, whole, as they were published. */
function newestResults(results, characters) {
  const lines = [];
  let left = characters;
  for (const line of results.map((result) => JSON.stringify(result)).reverse()) {
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  return lines.join('\n');
}

/** Whether the words before the property, which name the area, have a stem in common. */
function shareStem(task, fact) {
  const inFact = new Set(tokens(fact));
  const [, ...area] = tokens(task);
  return area.some((token) => inFact.has(token));
}

function count(outcomes, way) {
  return outcomes.filter((outcome) => outcome[way]).length;
}

function told(outcomes, way) {
  return `${count(outcomes, way)} of ${outcomes.length}`;
}
