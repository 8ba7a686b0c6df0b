// How much `recall` finds in long conversations: LoCoMo has ten, of 272 sessions, with questions and the turns that answer them.
// Each session is published as one result, whose facts are its turns, and `recall` is asked each question. The data set may be
// measured, but not shipped: https://github.com/snap-research/locomo
//
//   npm run eval -- locomo --data locomo10.json
//
// The weights of `recall` were tuned on every other conversation, from the first; the others were only judged.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mean } from './replay.mjs';

const ROOMS = [300, 900, 2000];
const RANKS = [1, 5, 10];
/** Items asked for: the text ends long before. */
const ITEMS = 200;
/** Of so many questions one is a task whose prompt is compiled. */
const PROMPTED = 5;

export async function judgeLocomo(dist, { data }) {
  if (data === undefined) throw new Error('eval: locomo needs --data FILE, the file locomo10.json');
  const conversations = JSON.parse(readFileSync(data, 'utf8')).map(conversationOf);
  const load = (path) => import(new URL(path, pathToFileURL(`${dist}/`)));
  const [{ startThroughline }, { connectThroughline }] = await Promise.all([
    load('server.js'),
    load('index.js'),
  ]);
  const folder = await mkdtemp(join(tmpdir(), 'throughline-eval-'));
  const services = ['extractor', 'compiler', 'tools'];
  const server = await startThroughline({ server: { store: join(folder, 'store') }, services });
  const client = await connectThroughline({ url: server.url });
  const judged = [];
  try {
    for (const conversation of conversations) {
      console.error(conversation.name);
      judged.push(await judgedOn(client.session(conversation.name), conversation));
    }
  } finally {
    await client.close();
    await server.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  console.log(
    `| | questions | ${RANKS.map((rank) => `any@${rank}`).join(' | ')} | mean@10 | ${ROOMS.map((room) => `in ${room} tokens`).join(' | ')} | in a prompt | ms |`,
  );
  console.log(`|---|${'---:|'.repeat(RANKS.length + ROOMS.length + 4)}`);
  const parts = {
    'five tuned on': judged.filter((_, at) => at % 2 === 0),
    'the other five': judged.filter((_, at) => at % 2 === 1),
    'all ten': judged,
  };
  for (const [name, some] of Object.entries(parts))
    for (const how of ['recall', 'BM25'])
      print(
        `${name}, ${how}`,
        some.flatMap((each) => each[how]),
      );
}

function print(name, asked) {
  const share = (figureOf) => {
    const figures = asked.map(figureOf).filter((figure) => figure !== undefined);
    return figures.length === 0 ? '' : mean(figures).toFixed(3);
  };
  const row = [
    ...[name, asked.length],
    ...RANKS.map((rank) => share(({ ranks }) => Number(Math.min(...ranks) <= rank))),
    share(({ ranks }) => mean(ranks.map((rank) => Number(rank <= 10)))),
    ...ROOMS.map((_, at) => share(({ inside }) => inside[at])),
    ...[share(({ prompt }) => prompt), share(({ ms }) => ms)],
  ];
  console.log(`| ${row.join(' | ')} |`);
}

/** Publishes a conversation, then asks its questions. */
async function judgedOn(session, { sessions, questions }) {
  for (const { task, at, turns } of sessions) {
    const facts = turns.map(({ text }) => ({ subject: `task:${task}`, relation: 'said', object: text }));
    await session.publish('observer', { taskId: task, at, facts }, { wait: true });
  }
  const found = { recall: [], BM25: [] };
  const plain = plainSearch(sessions);
  for (const [at, { question, evidence }] of questions.entries()) {
    const tasks = [...new Set(evidence.map(({ task }) => task))];
    const ranksIn = (order) =>
      tasks.map((task) => 1 + (order.indexOf(task) < 0 ? order.length + 10 : order.indexOf(task)));
    const insideOf = (text) => mean(evidence.map((turn) => Number(text.includes(stored(turn)))));
    const begun = performance.now();
    const reply = await session.tools.recall({
      query: question,
      limit: ITEMS,
      maxTokens: Math.max(...ROOMS),
    });
    const ms = performance.now() - begun;
    const order = [...new Set(reply.items.map(({ task }) => task))];
    const inside = ROOMS.map((room) => insideOf(within(reply.text.split('\n'), room)));
    const isPrompted = at % PROMPTED === 0;
    const prompt = isPrompted && (await session.compile({ taskId: 'next', taskPrompt: question })).prompt;
    found.recall.push({ ranks: ranksIn(order), inside, ms, ...(isPrompted && { prompt: insideOf(prompt) }) });
    const turns = plain(question);
    // As `recall` writes them.
    const lines = turns.map(({ text, task, day }) => `- said: ${text} [task:${task}, ${day}]`);
    found.BM25.push({
      ranks: ranksIn([...new Set(turns.map(({ task }) => task))]),
      inside: ROOMS.map((room) => insideOf(within(lines, room))),
    });
  }
  return found;
}

/** The first lines of a text, within so many tokens of four characters. */
function within(lines, room) {
  let left = room;
  const fits = (line) => {
    left -= Math.ceil((line.length + 1) / 4);
    return left >= 0;
  };
  const end = lines.findIndex((line) => !fits(line));
  return lines.slice(0, end < 0 ? lines.length : end).join('\n');
}

/** BM25 with the usual constants, over the words of the turns. */
function plainSearch(sessions) {
  const turns = sessions.flatMap(({ task, turns, at }) =>
    turns.map(({ text }) => ({ task, text, day: at.slice(0, 10) })),
  );
  const words = turns.map(({ text }) => wordsOf(text));
  const length = mean(words.map((some) => some.length));
  const holders = new Map();
  for (const some of words) for (const word of new Set(some)) holders.set(word, 1 + (holders.get(word) ?? 0));
  return (question) => {
    const scored = turns.map((turn, at) => {
      let score = 0;
      for (const word of new Set(wordsOf(question))) {
        const times = words[at].filter((other) => other === word).length;
        const some = holders.get(word) ?? 0;
        const rarity = Math.log(1 + (turns.length - some + 0.5) / (some + 0.5));
        score += (rarity * times * 2.2) / (times + 1.2 * (0.25 + (0.75 * words[at].length) / length));
      }
      return { ...turn, score };
    });
    return scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  };
}

function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** As a fact keeps it. */
function stored({ text }) {
  return text.slice(0, 450).trimEnd();
}

function conversationOf({ sample_id: name, conversation, qa }) {
  const sessions = [];
  for (let number = 1; conversation[`session_${number}`] !== undefined; number += 1) {
    const turns = conversation[`session_${number}`].map(
      ({ dia_id: id, speaker, text, blip_caption: photo }) => ({
        id,
        text: `${speaker}: ${text}${photo === undefined ? '' : ` (photo: ${photo})`}`
          .replace(/\s+/g, ' ')
          .trim(),
      }),
    );
    sessions.push({ task: `D${number}`, at: timeOf(conversation[`session_${number}_date_time`]), turns });
  }
  const turns = new Map(
    sessions.flatMap(({ task, turns }) => turns.map(({ id, text }) => [id, { task, text }])),
  );
  const questions = qa.map(({ question, evidence }) => ({
    question,
    evidence: evidence.flatMap((ids) => ids.match(/D\d+:\d+/g) ?? []).flatMap((id) => turns.get(id) ?? []),
  }));
  return { name, sessions, questions: questions.filter(({ evidence }) => evidence.length > 0) };
}

/** `1:56 pm on 8 May, 2023` as ISO 8601. */
function timeOf(text) {
  const [, hour, minute, half, day] = /^(\d+):(\d+) (am|pm) on (.*)$/.exec(text);
  const time = `${(Number(hour) % 12) + (half === 'pm' ? 12 : 0)}:${minute}`;
  return new Date(`${day.replace(',', '')} ${time} UTC`).toISOString();
}
