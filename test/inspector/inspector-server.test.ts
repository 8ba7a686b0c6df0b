import { connect as connectTcp } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type ServedInspector, serveInspected } from '../support/inspector.js';
import { type HeardFeed, hearFeed } from '../support/live-events.js';
import { startPrivateNats } from '../support/nats-server.js';
import { ofFile } from '../support/of-file.js';
import { newSession, publishWork, soon } from '../support/system.js';

const nats = await ofFile(startPrivateNats());
const served = await ofFile(serveInspected({ nats }));

const live = (query = ''): Promise<HeardFeed> => hearFeed((init) => served.fetch(`/api/live${query}`, init));

describe('the API', () => {
  it('the API says who it is, and what may be done', async () => {
    const me = await (await served.fetch('/api/me')).json();
    expect(me).toEqual({
      version: expect.stringMatching(/^\d/),
      role: 'operator',
      server: served.system.url,
      may: { decide: true, retry: true },
    });
  });

  it('a request that reads is passed on, and its answer comes back', async () => {
    const session = newSession('asked');
    await served.system.client.tools.sessionOpen({ session });
    const shown = await served.ask('run.status', { session });
    expect(shown).toMatchObject({ status: 200, body: { session: { status: 'open' } } });
  });

  it.each([
    ['a proposal that is not there', 'proposal.show', { id: 'PRO-999' }, 404, 'not_found'],
    ['a wrong name', 'run.status', { session: 'a b' }, 400, 'token_invalid'],
    ['a missing field', 'tool.fact-find', {}, 400, 'schema_invalid'],
    [
      'a request that erases a project',
      'tool.project-forget',
      { project: 's', confirm: 's' },
      403,
      'permission_denied',
    ],
    ['a result', 'dispatch.s.implementer', {}, 403, 'permission_denied'],
    ['the API of the server', '$JS.API.STREAM.NAMES', {}, 403, 'permission_denied'],
    ['a compile that would be counted', 'prompt.compile', { session: 's' }, 403, 'permission_denied'],
  ])('the API answers %s with the code of the error', async (_, subject, body, status, code) => {
    expect(await served.ask(subject, body)).toEqual({
      status,
      body: { error: expect.objectContaining({ code, message: expect.any(String) }) },
    });
  });

  it.each([
    ['no JSON', '{"session"', 400, 'json_parse_failed'],
    ['a list', '[]', 400, 'json_parse_failed'],
    ['more than a message may hold', JSON.stringify({ text: 'x'.repeat(1024 * 1024) }), 413, 'too_large'],
  ])('the API refuses a body with %s', async (_, body, status, code) => {
    const response = await served.fetch('/api/ask/run.status', { method: 'POST', body });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('a path that is not there is an error in JSON below /api, and the page for any view', async () => {
    const missing = await served.fetch('/api/nothing');
    expect([missing.status, await missing.json()]).toEqual([
      404,
      { error: { code: 'not_found', message: expect.any(String) } },
    ]);
    const view = await served.fetch('/s/demo/timeline');
    expect([view.status, view.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    expect(await view.text()).toContain('<div id="page">');
    expect((await served.fetch('/assets/..%2f..%2fpackage.json')).status).toBe(404);
    expect((await served.fetch('/package.json')).status).toBe(404);
  });

  it('the files of the page are kept by browsers without an end', async () => {
    const html = await (await served.fetch('/')).text();
    const [, path = ''] = /src="([^"]+)"/.exec(html) ?? [];
    const script = await served.fetch(path);
    expect(Object.fromEntries(script.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    await script.body?.cancel();
  });

  it('a request from another site is refused, and so is one without the cookie or for a foreign host', async () => {
    const path = '/api/ask/tool.session-list';
    const post = (headers: Record<string, string>) =>
      served.fetch(path, { method: 'POST', body: '{}', headers });
    expect((await post({ origin: 'http://evil.example' })).status).toBe(403);
    expect((await post({ cookie: '' })).status).toBe(401);
    expect(await rawStatus(served, 'Host: evil.example')).toBe(403);
    expect(await rawStatus(served, `Host: localhost\r\nCookie: ${served.cookie}`)).toBe(200);
  });
});

/** `fetch` sets the host by itself. */
function rawStatus({ inspector, origin }: ServedInspector, header: string): Promise<number> {
  const { hostname } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connectTcp(inspector.port, hostname, () => {
      socket.write(`GET /api/me HTTP/1.1\r\n${header}\r\nConnection: close\r\n\r\n`);
    });
    socket.once('error', reject);
    socket.once('data', (data) => {
      resolve(Number(data.toString().split(' ')[1]));
      socket.destroy();
    });
  });
}

describe('the live feed', () => {
  it('the feed begins with the state, and tells of results, rejections and learnings', async () => {
    const session = newSession('live');
    await using feed = await live();
    await feed.heard('state', ({ connected }) => connected === true);
    await publishWork(served.system.client, session, '1');
    const change = await feed.heard('change', (data) => data.session === session);
    expect(change.data).toEqual({ session, type: 'result', at: expect.any(String) });
    await served.system.client.publishText(session, 'implementer', 'no result at all');
    const rejected = await feed.heard('rejected');
    expect(rejected.data).toMatchObject({ session, role: 'implementer' });
    await served.system.client.learnings.propose({
      project: 'live',
      content: 'Run the linter before each commit',
      type: 'pattern',
      confidence: 0.9,
    });
    await feed.heard('learning', ({ project }) => project === 'live');
  });

  it('a wrong name of a session is refused', async () => {
    const response = await served.fetch('/api/live?session=a.b');
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: 'token_invalid' } },
    ]);
  });
});

describe('a reader', () => {
  it('a reader sees, and is told that deciding takes the operator role', async () => {
    await using reading = await serveInspected({ system: served.system, role: 'reader' });
    const me = await (await reading.fetch('/api/me')).json();
    expect(me).toMatchObject({ role: 'reader', may: { decide: false, retry: false } });
    expect((await reading.ask('proposal.list', {})).status).toBe(200);
    for (const subject of [
      'proposal.accept',
      'learning.edit',
      'tool.rejected-retry',
      'tool.rejected-remove',
    ]) {
      expect(await reading.ask(subject, { id: '1' })).toEqual({
        status: 403,
        body: {
          error: {
            code: 'permission_denied',
            message: expect.stringContaining('--inspector-role operator'),
          },
        },
      });
    }
    const decided = await served.ask('proposal.accept', { id: 'PRO-999' });
    expect(decided).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });
});

describe('an inspector that stops', () => {
  it('an inspector that stops ends the streams of its browsers, and takes no more requests', async () => {
    const stopping = await serveInspected({ system: served.system });
    const feed = await hearFeed((init) => stopping.fetch('/api/live', init));
    await feed.heard('state');
    await stopping.stop();
    await feed.ended;
    await expect(stopping.fetch('/api/me')).rejects.toThrow();
  });
});

describe('a server that is lost', () => {
  it('a server that is lost is told at once, requests are refused at once, and everything comes back with it', async () => {
    const session = newSession('lost');
    await served.system.client.tools.sessionOpen({ session });
    await using feed = await live();
    await feed.heard('state', ({ connected }) => connected === true);
    await nats.kill();
    await feed.heard('state', ({ connected }) => connected === false);
    const begun = performance.now();
    expect(await served.ask('run.status', { session })).toEqual({
      status: 503,
      body: { error: { code: 'unavailable', message: expect.stringContaining('tried again') } },
    });
    expect(performance.now() - begun).toBeLessThan(1000);
    expect((await served.fetch('/')).status).toBe(200);

    const before = feed.events.length;
    await nats.restart();
    await soon(() =>
      expect(feed.events.slice(before)).toContainEqual(
        expect.objectContaining({
          event: 'state',
          data: { connected: true },
        }),
      ),
    );
    await soon(async () => expect((await served.ask('run.status', { session })).status).toBe(200));
    await publishWork(served.system.client, session, '1');
    await feed.heard('change', (data) => data.session === session && data.type === 'result');
  });
});
