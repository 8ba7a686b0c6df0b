import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DISPATCH_STREAM, sessionRequest, streamOf, token } from '../../src/contracts/names.js';
import { createSessionReader } from '../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import type { SnapshotStore } from '../../src/engine/ports/session-log.js';
import { stateToJson } from '../../src/memory/session/session-snapshot.js';
import { DEFAULT_LIMITS } from '../../src/memory/session/session-state.js';
import { connectNats } from '../../src/nats/connection/connect-nats.js';
import { type Permissions, permissionsOf } from '../../src/nats/server/role-permissions.js';
import { MemorySnapshotStore } from '../doubles/memory-snapshot-store.js';
import { attemptsOn, mayPublish, type Names, repliesAt } from '../support/access-attempts.js';
import { allRejected } from '../support/all-rejected.js';
import { type GuardedSystem, startGuardedSystem } from '../support/guarded-system.js';
import { testedLayouts } from '../support/layouts.js';
import { allDealtWith, publishReview, publishWork, soon } from '../support/system.js';
import type { TestUser } from '../support/users.js';

/**
 * Each role, as it is printed and held to a session, publishes everything that there is to try to every subject, with every
 * reply subject. What it is entitled to do to the victim is left out, by its grants; all else must leave the victim as it
 * was.
 */

/** Neighbours in one shard, where there are shards. */
const LAYOUTS = testedLayouts(1);

const VICTIM: Names = { session: token('victim', 'session'), project: token('vproject', 'project') };
const OWN: Names = { session: token('mine', 'session'), project: token('mproject', 'project') };
const BOUND = ['--session', OWN.session];
/** Those whose permissions name event logs. */
const IN_SHARDS = new Set(['services', 'reader', 'guest', 'visitor', 'colleague']);
const USERS: readonly TestUser[] = [
  { name: 'publisher', role: 'publisher' },
  { name: 'services', role: 'services' },
  { name: 'reader', role: 'reader' },
  { name: 'operator', role: 'operator' },
  { name: 'guest', role: 'publisher', args: BOUND },
  { name: 'visitor', role: 'reader', args: BOUND },
  { name: 'member', role: 'member' },
  { name: 'colleague', role: 'member', args: BOUND },
];

describe.each(LAYOUTS)('in the layout $layout', (layout) => {
  const ATTEMPTS = attemptsOn({ ...VICTIM, layout }, { ...OWN, layout });
  const REPLIES = repliesAt({ ...VICTIM, layout });
  const ownStream = streamOf(layout, OWN.session);
  const isSharded = layout.layout === 'sharded';

  let system: GuardedSystem;

  beforeAll(async () => {
    system = await startGuardedSystem(
      USERS.filter(({ name }) => name !== 'services'),
      layout,
    );
    const { client } = system;
    for (const { session, project } of [VICTIM, OWN]) {
      await client.tools.sessionOpen({ session, goal: `goal of ${session}`, project });
      await client.tools.taskAdd({ session, content: `task of ${session}` });
      await publishWork(client, session, '1', { files_modified: [`src/${session}.ts`] });
      const fixes = { required_fixes: [`check the bounds of ${session}`] };
      const { sequence: after } = await publishReview(client, session, '1', 'needs_changes', fixes);
      await client.compile({ session, taskId: '2', taskPrompt: 'x', after });
      await client.send('learning.propose', { project, content: `Close the files of ${project}` });
    }
    // The ring of prompts is made with the first write.
    await soon(async () => expect(await system.ports.prompts.all(VICTIM.session)).not.toEqual([]));
    await quiet();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  const connectedAs = (name: string) =>
    connectNats({ url: system.url, name, logger: silentLogger, access: system.access(name) });

  /**
   * Reply subjects that a user tries. JetStream takes what a direct get sends to its API for a request, as a test below shows:
   * only users without a grant to read streams are kept from that.
   */
  function repliesFor({ publish }: Permissions): readonly string[] {
    const reads = publish.allow.some((subject) => subject.startsWith('$JS.API.'));
    return reads ? REPLIES.filter((reply) => !reply.startsWith('$JS.')) : REPLIES;
  }

  /** Waits until nothing more is stored, and every dispatch is dealt with. */
  async function quiet(): Promise<void> {
    const jsm = await system.ports.connection.jetstreamManager();
    await allDealtWith(system.ports);
    const ends = async () => {
      const found: string[] = [];
      for await (const { config, state } of jsm.streams.list())
        found.push(`${config.name} ${state.last_seq}`);
      return found.sort();
    };
    let before = await ends();
    await soon(async () => {
      const last = before;
      before = await ends();
      expect(before).toEqual(last);
    });
  }

  /** The victim, as everyone sees it. Sequences go on, and are left out. */
  async function victim() {
    const { ports, client } = system;
    const { session, project } = VICTIM;
    const jsm = await ports.connection.jetstreamManager();
    const streams: object[] = [];
    for await (const { config, created } of jsm.streams.list()) streams.push({ config, created });
    const consumers: object[] = [];
    for await (const { name, created, config } of jsm.consumers.list(DISPATCH_STREAM)) {
      consumers.push({ name, created, config });
    }
    // Whatever was stored over the snapshot: with it or without, the state is the same.
    const stateFrom = async (snapshots: SnapshotStore) => {
      const options = { log: ports.log, snapshots, limits: DEFAULT_LIMITS, logger: silentLogger };
      const reader = createSessionReader({ ...options, maxCached: 1 });
      return stateToJson((await reader.load(session)).folded.state);
    };
    const { prompt } = await client.compile({ session, taskId: '2', taskPrompt: 'bounds' });
    const { sequence: _, ...learnings } = await client.learnings.list({ project });
    const { sequence: __, ...proposals } = await client.proposals.list({ project, status: 'all' });
    return {
      streams,
      consumers,
      state: await stateFrom(ports.snapshots),
      fromEvents: await stateFrom(new MemorySnapshotStore()),
      prompt,
      learnings,
      proposals,
    };
  }

  describe('whatever a user may ask for, and wherever the answer goes', () => {
    it('tries many hundred combinations of what a user may ask for and where the answer goes', () => {
      expect(ATTEMPTS.length * REPLIES.length).toBeGreaterThan(1000);
    });

    it.each(isSharded ? USERS.filter(({ name }) => IN_SHARDS.has(name)) : USERS)(
      '$name changes nothing of a session, project, bucket or consumer that is not its own',
      async ({ name, role, args }) => {
        const sessions = args === undefined ? {} : { sessions: [OWN.session] };
        const permissions = permissionsOf(role, { inboxPrefix: `_INBOX_${name}`, ...sessions });
        const tried = ATTEMPTS.filter(
          ({ subject, changesVictim }) => !(changesVictim && mayPublish(permissions, subject)),
        );
        expect(tried.some(({ subject }) => mayPublish(permissions, subject))).toBe(true);
        const before = await victim();
        const connection = await connectedAs(name);
        for (const { subject, body } of tried) {
          // Where it may not publish, it may not with any reply.
          const replies = mayPublish(permissions, subject) ? repliesFor(permissions) : REPLIES.slice(0, 2);
          for (const reply of replies) connection.publish(subject, body, reply === '' ? {} : { reply });
          await connection.flush();
        }
        await connection.close();
        await quiet();
        expect(await victim()).toEqual(before);
      },
    );

    it('an operator can have a stream of the account deleted; a reader cannot', async () => {
      const jsm = await system.ports.connection.jetstreamManager();
      const isThere = async () => (await jsm.streams.names().next()).includes('BAIT');
      for (const [name, isLeft] of [
        ['reader', true],
        ['visitor', true],
        ['operator', false],
      ] as const) {
        await jsm.streams.add({ name: 'BAIT', subjects: ['bait'] });
        const connection = await connectedAs(name);
        const reply = '$JS.API.STREAM.DELETE.BAIT';
        connection.publish(`$JS.API.DIRECT.GET.${ownStream}`, '{"seq":999999}', { reply });
        const answered = await connection.request(`$JS.API.STREAM.INFO.${ownStream}`).catch(() => undefined);
        expect(answered === undefined).toBe(isLeft);
        await connection.close();
        await soon(async () => expect(await isThere()).toBe(isLeft));
      }
    });

    it.each(['publisher', 'reader', 'member'] as const)(
      'the role %s is granted nothing of JetStream',
      (role) => {
        const { publish } = permissionsOf(role, { inboxPrefix: '_INBOX' });
        expect(publish.allow.filter((subject) => subject.startsWith('$JS') || subject === '>')).toEqual([]);
      },
    );

    it('no user changes a result, though much was stored where it does not belong', async () => {
      const rejected = await allRejected(system.ports.rejected);
      // An empty body may as well be that of a publisher with a PubAck: it is kept with its reason, and changes no session.
      const named = rejected.filter(({ session, bytes }) => session === VICTIM.session && bytes > 0);
      expect(new Set(named.map(({ code }) => code))).toEqual(new Set(['stored_reply']));
      // Both those that were stored where results arrive, and those where rejected results are kept.
      expect(named.some(({ sequence }) => sequence > 0)).toBe(true);
      expect(named.some(({ sequence }) => sequence === 0)).toBe(true);
    });

    it.runIf(isSharded)(
      'a user held to a session reads nothing of a neighbour in its shard, by any request',
      async () => {
        const jsm = await system.ports.connection.jetstreamManager();
        const { last_seq: last } = (await jsm.streams.info(ownStream)).state;
        const bodies = [
          ...['', '{"seq":1}', `{"seq":${last}}`, '{"last_by_subj":"session.victim.>"}'],
          '{"seq":1,"next_by_subj":"session.victim.>"}',
          '{"seq":1,"batch":9,"next_by_subj":">"}',
          ...['{"multi_last":["session.victim.>"]}', '{"subjects_filter":">"}'],
        ];
        for (const name of ['visitor', 'guest', 'colleague']) {
          const connection = await connectedAs(name);
          const inbox = `_INBOX_${name}.stolen`;
          const heard: string[] = [];
          connection.subscribe(inbox, {
            callback: (_, message) => {
              heard.push(`${message.headers?.get('Nats-Subject')} ${message.string()}`);
            },
          });
          const own = `$JS.API.DIRECT.GET.${ownStream}.session.mine.>`;
          const reads = ATTEMPTS.map(({ subject }) => subject).filter((each) => each.startsWith('$JS.API.'));
          reads.push(own, ...['*', 'victim'].map((session) => own.replace('mine', session)));
          for (const subject of [...reads, own.replace('mine.>', '>')]) {
            for (const body of bodies) connection.publish(subject, body, { reply: inbox });
            await connection.flush();
          }
          // What is granted is answered last, when everything else has been dealt with.
          const show = sessionRequest('run.status', OWN.session);
          connection.publish(show, JSON.stringify({ session: OWN.session }), { reply: inbox });
          await soon(() => expect(heard).toEqual([expect.stringContaining('goal of mine')]));
          expect(heard.filter((each) => each.includes('victim'))).toEqual([]);
          await connection.close();
        }
      },
    );
  });
});
