// Two memories by the Model Context Protocol, each as its documentation starts it, with the same ten thousand results: ours, and
// the protocol's own memory server from npm. What cannot be installed from a registry is left out.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { token } from '../../dist/contracts/names.js';
import { goalsOf } from './goals.mjs';
import { openPorts, startServer, startThroughline, temporaryDir, throughlineBin } from './host.mjs';
import { factEvent, resultOf } from './results.mjs';
import { median } from './stats.mjs';

const OTHER = '@modelcontextprotocol/server-memory';
const VERSION = '2026.8.31';
const QUERY = 'tail of the reader of module 12';
/** A word of the query: the other server looks for the text as it is. */
const WORD = 'module 12 ';
const SESSION = token('shop', 'session');

export default {
  name: 'side-by-side',
  goals: goalsOf(`
    beside.read | a search by MCP over 10,000 results: p50 | ${OTHER} ${VERSION} | at most 1 times
    beside.write | one more result by MCP: p50 | ${OTHER} ${VERSION} | at most 1 times
  `),
  run,
};

async function run({ quick, progress, shutdown }) {
  const [count, rounds] = quick ? [1000, 5] : [10_000, 15];
  const [ours, theirs] = [await startOurs(count, shutdown), await startTheirs(count, shutdown)];
  progress(`${count} results in each`);
  const times = { ours: { read: [], write: [] }, theirs: { read: [], write: [] } };
  const replies = {};
  for (let round = 1; round <= rounds; round += 1) {
    for (const [name, memory] of Object.entries({ ours, theirs })) {
      const began = performance.now();
      replies[name] = await memory.read();
      times[name].read.push(performance.now() - began);
      const written = performance.now();
      await memory.write(count + round);
      times[name].write.push(performance.now() - written);
    }
    progress(`round ${round}/${rounds}`);
  }
  const row = (name, memory, label) => ({
    name: label,
    text:
      `ready after ${memory.ready.toFixed(0)} ms, search p50 ${median(times[name].read).toFixed(1)} ms and ` +
      `${replies[name].length.toLocaleString('en')} characters, one more p50 ${median(times[name].write).toFixed(1)} ms, ` +
      `first context ${memory.first.toLocaleString('en')} characters, memory ${megabytes(memory.pids)} MB`,
  });
  return {
    measured: {
      'beside.read': median(times.ours.read.map((ms, at) => ms / times.theirs.read[at])),
      'beside.write': median(times.ours.write.map((ms, at) => ms / times.theirs.write[at])),
    },
    figures: [
      row('ours', ours, 'throughline: server, services, MCP'),
      row('theirs', theirs, `${OTHER} ${VERSION}`),
    ],
    notes: [
      'side-by-side: the other server answers a search with all entities that hold the words as they stand, and knows no limit.',
    ],
  };
}

async function startOurs(count, shutdown) {
  const server = await startServer(shutdown);
  const services = await startThroughline(['admin', 'serve'], server.url, shutdown);
  const nats = await openPorts(server.url, shutdown);
  for (let from = 1; from <= count; from += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, count - from + 1) }, (_, at) =>
        nats.log.append(SESSION, factEvent(from + at)),
      ),
    );
  const mcp = await opened(throughlineBin, ['mcp', '--session', SESSION], { NATS_URL: server.url }, shutdown);
  return {
    ready: mcp.ready,
    first: (await mcp.call('context', {})).length,
    read: () => mcp.call('recall', { query: QUERY }),
    write: (n) => mcp.call('report', resultOf(n)),
    pids: [server.pid, services.pid, mcp.pid],
  };
}

async function startTheirs(count, shutdown) {
  const dir = await temporaryDir(shutdown);
  execFileSync('npm', [
    'install',
    '--silent',
    '--no-audit',
    '--no-fund',
    `--prefix=${dir}`,
    `${OTHER}@${VERSION}`,
  ]);
  const script = join(dir, 'node_modules', OTHER, 'dist/index.js');
  const mcp = await opened(script, [], { MEMORY_FILE_PATH: join(dir, 'memory.jsonl') }, shutdown);
  const entity = (n) => {
    const { summary, task_id: name, files_modified: files } = resultOf(n);
    return { name: `${name} ${n}`, entityType: 'result', observations: [summary, ...files] };
  };
  for (let from = 1; from <= count; from += 500)
    await mcp.call('create_entities', {
      entities: Array.from({ length: Math.min(500, count - from + 1) }, (_, at) => entity(from + at)),
    });
  return {
    ready: mcp.ready,
    first: (await mcp.call('read_graph', {})).length,
    read: () => mcp.call('search_nodes', { query: WORD }),
    write: (n) => mcp.call('create_entities', { entities: [entity(n)] }),
    pids: [mcp.pid],
  };
}

async function opened(script, args, env, shutdown) {
  const began = performance.now();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [script, ...args],
    env: { ...process.env, ...env },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(transport);
  shutdown.add(script, () => client.close());
  const ready = performance.now() - began;
  const call = async (name, given) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const text = content.map((part) => part.text).join('\n');
    if (isError) throw new Error(`${name}: ${text}`);
    return text;
  };
  return { ready, call, pid: transport.pid };
}

/** What the processes hold of memory now; 0 where the system does not tell it under /proc. */
function megabytes(pids) {
  if (process.platform !== 'linux') return 0;
  const kilobytes = pids.map((pid) =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]),
  );
  return Math.round(kilobytes.reduce((sum, each) => sum + each, 0) / 1024);
}
