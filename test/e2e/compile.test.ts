import { describe, expect, it } from 'vitest';
import type { Token } from '../../src/contracts/names.js';
import type { CompileReply } from '../../src/contracts/replies/compile-reply.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { sessionReader } from '../../src/services/common/process-parts.js';
import { hashOf } from '../../src/shared/hash.js';
import { ofFile } from '../support/of-file.js';
import {
  allDealtWith,
  compilerOn,
  implemented,
  manyResults,
  newSession,
  publishWire,
  soon,
  startSystem,
} from '../support/system.js';

const SNAPSHOT_EVERY = 10;
const AFTER_TIMEOUT_MS = 3000;

const system = await ofFile(
  startSystem({
    // Other services would load sessions as well, and write their snapshots.
    only: ['extractor', 'compiler', 'tools'],
    env: {
      THROUGHLINE_TUNING: `snapshotEvery=${SNAPSHOT_EVERY} afterTimeoutMs=${AFTER_TIMEOUT_MS}`,
    },
  }),
);

const TASK = { taskId: 'next', taskPrompt: 'fix src/f1.ts and the step that follows' };

/** A compiler that has read nothing yet, as another process would start with. */
function freshCompiler() {
  const { reader } = sessionReader(system.ports, system.config, silentLogger);
  return compilerOn(reader, system.ports.log, AFTER_TIMEOUT_MS);
}

async function fill(session: Token, count: number): Promise<void> {
  const sent = manyResults(count).map(({ role, body }) => system.client.publishText(session, role, body));
  await Promise.all(sent);
  await allDealtWith(system.ports);
}

function storedSnapshot(session: Token) {
  return system.ports.snapshots.load(session);
}

function decided({ snapshotSequence: _from, replayed: _many, ...rest }: CompileReply) {
  return JSON.stringify(rest);
}

describe('after', () => {
  it('compile with `after` always includes the fact that was just published', async () => {
    const session = newSession('after');
    for (let round = 1; round <= 50; round += 1) {
      const result = implemented(`t${round}`, { files_modified: [`src/round-${round}.ts`] });
      const { sequence } = await publishWire(system.client, 'implementer', session, result);
      const reply = await system.client.compile({
        session,
        taskId: 'next',
        taskPrompt: `Split src/round-${round}.ts`,
        after: sequence,
      });
      expect(reply.prompt).toContain(`\n- src/round-${round}.ts (`);
      expect(reply.prompt).toContain(`\n- did t${round} | Files: src/round-${round}.ts [`);
    }
  });
});

describe('asOf', () => {
  it('compile with asOf gives the same bytes as then: from the cache, from snapshots, and from a fresh compiler', async () => {
    const session = newSession('past');
    // The compiler on its own below reads no learnings.
    const asked = { session, ...TASK, maxLearnings: 0, explain: true };
    const then: CompileReply[] = [];
    for (const { role, body } of manyResults(60)) {
      const { sequence } = await system.client.publishText(session, role, body);
      then.push(await system.client.compile({ ...asked, after: sequence }));
    }
    await soon(async () => {
      expect((await storedSnapshot(session))?.sequence).toBeGreaterThanOrEqual(4 * SNAPSHOT_EVERY);
    });
    const prompts = new Set(then.map((reply) => reply.prompt));
    expect(prompts.size, 'the prompts differ').toBeGreaterThan(15);
    const compile = freshCompiler();
    let fromSnapshots = 0;
    for (const reply of then) {
      const request = { ...asked, asOf: reply.sequence };
      const now = await system.client.compile(request);
      expect(decided(now)).toBe(decided(reply));
      expect(decided(await compile(request))).toBe(decided(reply));
      if (now.snapshotSequence > 0) fromSnapshots += 1;
      expect(now.snapshotSequence).toBeLessThanOrEqual(reply.sequence);
    }
    expect(fromSnapshots).toBeGreaterThan(0);
  });
});

describe('the prompts that were compiled', () => {
  /** The newest prompts of a session, once there are so many. */
  const kept = (session: Token, count: number) =>
    soon(async () => {
      const { prompts, total } = await system.client.tools.promptList({ session });
      expect(total).toBe(count);
      return prompts;
    });

  it('every kind of prompt is kept with what it showed, and compiled again from its request it has the same hash', async () => {
    const session = newSession('ring');
    await fill(session, 30);
    const requests = [
      { session, ...TASK, role: 'reviewer', maxFacts: 5, budget: { inputTokens: 400 } },
      { kind: 'iteration', session, extra: 'at the end' },
      { kind: 'session-start', session, now: '2026-01-01T00:00:00Z' },
    ] as const;
    const compiled = [];
    for (const request of requests) compiled.push(await system.client.compile(request));
    const prompts = await kept(session, 3);
    expect(prompts.map(({ kind }) => kind)).toEqual(['session-start', 'iteration', 'dispatch']);
    const [, , dispatch] = prompts;
    expect(dispatch).toMatchObject({ task: TASK.taskId, role: 'reviewer', room: 400 });
    expect(dispatch?.facts).toHaveLength(dispatch?.factsShown ?? 0);
    expect(dispatch?.left.length).toBeGreaterThan(0);
    // What comes later changes nothing of it.
    await fill(session, 12);
    for (const [index, { id, hash, tokens, sequence }] of prompts.toReversed().entries()) {
      const { prompt, request } = await system.client.tools.promptShow({ session, id });
      expect(prompt).toMatchObject({ hash, tokens });
      const past = (await system.client.request(`prompt.past.${session}`, request)) as CompileReply;
      expect(past.prompt).toBe(compiled[index]?.prompt);
      expect(past).toMatchObject({ sequence, tokenEstimate: tokens });
      expect(hashOf(past.prompt)).toBe(hash);
    }
    // Nothing of the past is kept or counted.
    await system.client.compile({ session, ...TASK });
    await kept(session, 4);
    await soon(async () =>
      expect(await system.client.tools.telemetryShow({ session })).toMatchObject({ compiles: 4, session }),
    );
  });

  it('a reply has at most 1.3 times the bytes of its prompt and 2 KB, over NATS and from the log of a busy session', async () => {
    const session = newSession('bytes');
    await fill(session, 100);
    for (const more of [TASK, { kind: 'iteration' }, { kind: 'session-start' }]) {
      const request = JSON.stringify({ session, ...more });
      const { data } = await system.ports.connection.request('prompt.compile', request, { timeout: 10_000 });
      const { prompt }: CompileReply = JSON.parse(new TextDecoder().decode(data));
      expect(data.length).toBeLessThan(1.3 * Buffer.byteLength(prompt) + 2048);
    }
  });

  it('the prompts are shown in pages, of one task, and by the beginning of their id', async () => {
    const session = newSession('ring');
    await fill(session, 5);
    for (let number = 1; number <= 7; number += 1)
      await system.client.compile({ session, taskId: `t${number % 2}`, taskPrompt: `go on ${number}` });
    const all = await kept(session, 7);
    const paged = [];
    for (let cursor: string | undefined; ; ) {
      const page = await system.client.tools.promptList({ session, limit: 3, ...(cursor && { cursor }) });
      paged.push(...page.prompts);
      cursor = page.next;
      if (cursor === undefined) break;
    }
    expect(paged).toEqual(all);
    const odd = await system.client.tools.promptList({ session, task: 't1', limit: 2 });
    expect(odd).toMatchObject({ total: 4, prompts: [{ task: 't1' }, { task: 't1' }] });
    const found = await system.client.tools.promptShow({ session, id: all[0]?.id.slice(0, 10) ?? '' });
    expect(found.prompt).toEqual(all[0]);
    await expect(system.client.tools.promptShow({ session, id: 'none' })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining(`"throughline prompt ls ${session}"`),
    });
    await expect(system.client.tools.promptList({ session, cursor: 'odd' })).rejects.toMatchObject({
      code: 'schema_invalid',
    });
  });
});
