// Compares three ways to give an agent what earlier agents found out: one growing file put whole into every prompt (as
// AGENTS.md plus TODO.md), the memory, and nothing. The same scripted tasks run each way. The agent is scripted too: it
// obeys a rule exactly if the text of the rule stands in its prompt.
import { encode } from 'gpt-tokenizer';
import { connectThroughline } from '../../dist/index.js';
import { goalsOf } from './goals.mjs';
import { startServer, startThroughline } from './host.mjs';
import { median } from './stats.mjs';

/** Areas of a product: how tasks call one, its file, the decision of its first task, and what its first review demands. */
const AREAS = `
invoice export | src/invoices/export.ts | Invoice amounts are integers of cents | quote every CSV field
sign-in | src/auth/sign-in.ts | Sign-in uses server sessions, no JWT | compare password hashes in constant time
search | src/search/query.ts | Search results are ordered by id on equal score | escape wildcards of the user
uploads | src/uploads/receive.ts | Uploads go to disk first and to S3 later | limit the size before reading the body
payments | src/payments/charge.ts | A charge is keyed by the order id | send the idempotency key again on retry
email | src/mail/send.ts | Mail is queued in the outbox table | strip line breaks from header values
reports | src/reports/schedule.ts | Reports run in UTC | catch up on runs that were missed
thumbnails | src/images/resize.ts | Thumbnails are WebP with quality 80 | refuse images above 50 megapixels
webhooks | src/webhooks/deliver.ts | Webhooks are delivered at least once | sign the raw body
audit log | src/audit/log.ts | The audit log is append-only | record the actor and not the session
rate limits | src/http/limits.ts | Limits are token buckets per account | answer 429 with Retry-After
CSV import | src/import/csv.ts | An import is all or nothing | report the line number of an error
prices | src/prices/total.ts | Prices round half to even | apply the discount before the tax
stock | src/stock/reserve.ts | A reservation ends after 15 minutes | lock rows in the order of their ids
translations | src/i18n/texts.ts | A missing text falls back to English | use plural rules of the locale
backups | src/backup/run.ts | Backups are encrypted with age | verify the checksum after the copy`
  .trim()
  .split('\n')
  .map((row) => row.split(' | '));
const VERBS =
  'Extend, Change, Refactor, Speed up, Document, Log more in, Handle errors of, Add metrics to'.split(', ');
const DETAILS =
  'for the new plan, as support asked, before the release, for large customers, behind a flag'.split(', ');
const CHATTER =
  'The suite passes, Two helpers moved to a module, Names follow the review, A flaky case is gone'.split(
    ', ',
  );
const WAYS = ['growing file', 'memory', 'nothing'];

export default {
  name: 'memory-value',
  goals: goalsOf(`
    memory-value.tokens | memory-value: tokens in the prompts of 160 scripted tasks with a growing file | the same tasks with the memory | at least 2 times
    memory-value.kept | memory-value: findings and decisions kept with the memory | all of them | at least 0.9 of all
  `),
  run,
};

async function run({ quick, progress, shutdown }) {
  const server = await startServer(shutdown);
  await startThroughline(['admin', 'serve'], server.url, shutdown);
  const client = await connectThroughline({ url: server.url, timeoutMs: 30_000 });
  shutdown.add('the client', () => client.close());
  const tasks = tasksOf(quick ? 3 : 10);
  const later = tasks.filter(({ isFirst }) => !isFirst).length;
  const runs = {};
  for (const way of WAYS) {
    runs[way] = await worked(tasks, memories(client)[way]);
    progress(`${way}: ${runs[way].repeated} findings repeated, ${runs[way].broken} decisions broken`);
  }
  const { memory, 'growing file': file } = runs;
  return {
    measured: {
      'memory-value.tokens': file.tokens / memory.tokens,
      'memory-value.kept': 1 - (memory.repeated + memory.broken) / (2 * later),
    },
    figures: Object.entries(runs).map(([name, { prompts, tokens, newest, repeated, broken }]) => ({
      name,
      text:
        `${prompts} prompts, ${tokens} tokens in them, ${newest} in the last ones (median); ` +
        `findings repeated ${repeated} of ${later}, decisions broken ${broken} of ${later}`,
    })),
    notes: [
      `memory-value: ${tasks.length} tasks in ${AREAS.length} areas; tokens as gpt-tokenizer counts them, instructions included.`,
      'memory-value: the agent is scripted and obeys a rule exactly if its text stands in the prompt. That shows which rules reach a prompt and at which size. It does not show how a model weighs them: a scripted agent reads the last page of a long file as carefully as the first, and works no better for a short prompt.',
    ],
  };
}

/** How each way keeps results, and makes the prompt of a task. */
function memories(client) {
  const lines = ['# Rules and tasks', ''];
  let after;
  return {
    'growing file': {
      keep: async (_, result) => {
        lines.push(`- ${Object.values(result).map(said).join('; ')}`);
      },
      prompt: async ({ id, text }) => `${lines.join('\n')}\n\nTask ${id}: ${text}\n`,
    },
    memory: {
      keep: async (role, result) => {
        ({ sequence: after } = await client.publishText('value', role, JSON.stringify(result)));
      },
      prompt: async ({ id, text }) => {
        const request = {
          session: 'value',
          taskId: id,
          taskPrompt: text,
          ...(after === undefined ? {} : { after }),
        };
        return (await client.compile(request)).prompt;
      },
    },
    nothing: { keep: async () => {}, prompt: async ({ id, text }) => `Task ${id}: ${text}\n` },
  };
}

const said = (value) =>
  [value]
    .flat()
    .map((each) => each.object ?? each)
    .join(', ');

/** Works on all tasks, each until its review approves, at most three rounds. */
async function worked(tasks, { keep, prompt }) {
  const sizes = [];
  let [repeated, broken] = [0, 0];
  for (const task of tasks) {
    const { id, text, file, decision, finding, isFirst, chatter } = task;
    for (let round = 1; round <= 3; round += 1) {
      const given = await prompt(task);
      sizes.push(encode(given).length);
      const isClean = given.includes(finding);
      if (!isFirst && round === 1) {
        if (!isClean) repeated += 1;
        if (!given.includes(decision)) broken += 1;
      }
      const facts = [{ subject: file, relation: 'decided', object: decision, tags: ['decision'] }];
      const done = {
        task_id: id,
        status: 'completed',
        summary: `${text}. ${chatter}.`,
        files_modified: [file],
      };
      await keep('implementer', isFirst && round === 1 ? { ...done, facts } : done);
      const verdict = isClean ? 'approved' : 'needs_changes';
      await keep('reviewer', {
        task_id: id,
        assessment: verdict,
        ...(isClean ? {} : { required_fixes: [finding] }),
      });
      if (isClean) break;
    }
  }
  const tokens = sizes.reduce((sum, size) => sum + size, 0);
  return { prompts: sizes.length, tokens, newest: median(sizes.slice(-20)), repeated, broken };
}

/** So many tasks of each area, mixed: half name the file, half the area in words only. The same ones at each run. */
function tasksOf(rounds) {
  const random = generator(46);
  const pick = (items) => items[Math.floor(random() * items.length)];
  return Array.from({ length: rounds }, (_, round) =>
    AREAS.map(([area, file, decision, demand]) => ({
      text: `${pick(VERBS)} ${random() < 0.5 ? file : `the ${area}`} ${pick(DETAILS)}`,
      finding: `In ${file} always ${demand}`,
      chatter: pick(CHATTER),
      order: round + random(),
      isFirst: round === 0,
      file,
      decision,
    })),
  )
    .flat()
    .sort((a, b) => a.order - b.order)
    .map((task, index) => ({ ...task, id: `${index + 1}` }));
}

/** The same numbers for the same seed. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
