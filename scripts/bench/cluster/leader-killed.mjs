// Results and requests for prompts while the server that leads a stream is killed and started again; then all is counted.
import { DISPATCH_STREAM, EXTRACTOR_CONSUMER, streamOf, token } from '../../../dist/contracts/names.js';
import { createSessionReader } from '../../../dist/engine/folding/session-folding.js';
import { silentLogger } from '../../../dist/engine/ports/logger-and-clock.js';
import { resultOf } from '../results.mjs';
import { pause, ready } from './three-servers.mjs';

/** Sessions that get results, each by a publisher of its own, and of them those whose prompts are asked for. */
const SESSIONS = 16;
const ASKED = 4;
/** Between two results of one session, and between two prompts: the load stays far below what the machine can do. */
const PAUSE_MS = 40;
const REQUEST_MS = 2000;
const BEFORE_MS = 3000;

const sessionAt = (lane) => token(`killed-${lane}`, 'session');

/**
 * Kills the leader of the dispatches, then that of the shard, or stream, of a session; each is started again after `downMs`.
 * Gives for each the longest times without answers, and at the end `{ acknowledged, lost, twice }`, in results.
 */
export async function leadersKilled({ nats, cluster, downMs, progress }) {
  const jsm = await nats.connection.jetstreamManager({ checkAPI: false });
  const load = underLoad(nats);
  const times = [];
  const streams = [DISPATCH_STREAM, streamOf(nats.layout, sessionAt(0))];
  for (const stream of streams) {
    await pause(BEFORE_MS);
    const leader = await cluster.leader(jsm, stream);
    load.begin();
    const killed = performance.now();
    await leader.kill();
    await ready(async () => {
      if ((await cluster.leader(jsm, stream)) === leader) throw new Error('no other server leads yet');
    });
    const electedMs = performance.now() - killed;
    await pause(Math.max(0, downMs - electedMs));
    await leader.start();
    await pause(BEFORE_MS);
    times.push({ stream, electedMs, ...load.longest() });
    progress(`${leader.name} led ${stream} and was killed: ${JSON.stringify(times.at(-1))}`);
  }
  const acknowledged = await load.end();
  progress('waiting until all results are in their sessions');
  await ready(async () => {
    const { num_pending, num_ack_pending } = await jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
    if (num_pending + num_ack_pending > 0) throw new Error(`${num_pending + num_ack_pending} results wait`);
  });
  return { times, ...(await counted(nats, acknowledged)) };
}

/** Publishers that go on with one result until it is acknowledged, and requests for prompts. */
function underLoad({ connection, source }) {
  const acknowledged = new Map();
  const publish = new Answers();
  const compile = new Answers();
  let over = false;
  const publishing = async (lane) => {
    const session = sessionAt(lane);
    const stored = [];
    acknowledged.set(session, stored);
    for (let n = 1; !over; n += 1) {
      const body = Buffer.from(JSON.stringify({ ...resultOf(n), result_id: `${session}:${n}` }));
      const store = () => source.publish(`dispatch.${session}.implementer`, body, `${session}:${n}`);
      stored.push((await publish.until(lane, store)).sequence);
      await pause(PAUSE_MS);
    }
  };
  const asking = async (lane) => {
    const request = JSON.stringify({ session: sessionAt(lane), taskId: '1.1', taskPrompt: 'Go on' });
    while (!over) {
      await compile.until(lane, async () => {
        const { data } = await connection.request('prompt.compile', request, { timeout: REQUEST_MS });
        const reply = JSON.parse(Buffer.from(data));
        if (reply.prompt === undefined) throw new Error(JSON.stringify(reply.error));
      });
      await pause(PAUSE_MS);
    }
  };
  const lanes = (count, work) => Array.from({ length: count }, (_, lane) => work(lane));
  const running = Promise.all([...lanes(SESSIONS, publishing), ...lanes(ASKED, asking)]);
  return {
    begin() {
      publish.begin();
      compile.begin();
    },
    longest: () => ({ publish: publish.longest(), compile: compile.longest() }),
    async end() {
      over = true;
      await running;
      return acknowledged;
    },
  };
}

/** How long callers wait for an answer: the longest that one of them did, and that all of them did. */
class Answers {
  #since = new Map();
  #anyAt = performance.now();
  #one = 0;
  #all = 0;

  begin() {
    this.#one = 0;
    this.#all = 0;
  }

  /** @returns milliseconds; those who wait now count */
  longest() {
    const now = performance.now();
    const waiting = [...this.#since.values()].map((since) => now - since);
    return {
      one: Math.round(Math.max(this.#one, ...waiting)),
      all: Math.round(Math.max(this.#all, now - this.#anyAt)),
    };
  }

  /** What `ask` gives, asked again until it does. */
  async until(caller, ask) {
    this.#since.set(caller, performance.now());
    const answer = await ready(ask);
    const now = performance.now();
    this.#one = Math.max(this.#one, now - this.#since.get(caller));
    this.#all = Math.max(this.#all, now - this.#anyAt);
    this.#anyAt = now;
    this.#since.delete(caller);
    return answer;
  }
}

/** Of all that was acknowledged: what is in no session, and what counts more than once. */
export async function counted({ log, snapshots }, acknowledged) {
  const reader = createSessionReader({ log, snapshots, logger: silentLogger, maxCached: 1 });
  let [all, lost, twice] = [0, 0, 0];
  for (const [session, sequences] of acknowledged) {
    const { events } = await ready(() => log.read(session, { after: 0 }));
    const there = new Set(events.map(({ event }) => event.data.dispatch?.sequence));
    const { state } = (await ready(() => reader.load(session))).folded;
    const { rejected, ...results } = state.dispatches.current().counts;
    const count = Object.values(results).reduce((sum, each) => sum + each, 0);
    all += sequences.length;
    lost += sequences.filter((sequence) => !there.has(sequence)).length + rejected;
    twice += Math.max(0, count - new Set(sequences).size);
  }
  return { acknowledged: all, lost, twice };
}
