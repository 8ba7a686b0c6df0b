import { describe, expect, it } from 'vitest';
import { serveInspected } from '../support/inspector.js';
import { startPrivateNats } from '../support/nats-server.js';
import { ofFile } from '../support/of-file.js';
import { newSession, publishWork, soon } from '../support/system.js';

const nats = await ofFile(startPrivateNats());
const served = await ofFile(serveInspected({ nats }));

/** One server-sent event. */
interface Heard {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A browser's end of the live feed, which waits for an event of a kind, among those that came and those to come. */
async function live() {
  const closing = new AbortController();
  const events: Heard[] = [];
  const ended = read(await served.fetch('/api/live', { signal: closing.signal }), events).catch(() => {});
  return {
    heard: (event: string, fits: (data: Heard['data']) => boolean = () => true) =>
      soon(() => {
        const found = events.find((each) => each.event === event && fits(each.data));
        if (found === undefined) throw new Error(`no event ${event} among ${events.length}`);
        return found;
      }),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await ended;
    },
  };
}

async function read(response: Response, events: Heard[]): Promise<void> {
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event, data] = /^event: (.+)\ndata: (.+)$/.exec(block) ?? [];
      if (event !== undefined && data !== undefined) events.push({ event, data: JSON.parse(data) });
    }
  }
}

describe('the API', () => {
  it('the API says who it is, and what may be done', async () => {
    const me = await (await served.fetch('/api/me')).json();
    expect(me).toEqual({
      server: served.system.url,
      user: expect.any(String),
      decides: true,
    });
  });

  it.each([
    ['a proposal that is not there', 'proposal.show', { id: 'PRO-999' }, 404, 'not_found'],
    ['a missing field', 'tool.fact-find', {}, 400, 'schema_invalid'],
    ['an erased project', 'tool.project-forget', { project: 's', confirm: 's' }, 403, 'permission_denied'],
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
      'content-encoding': 'gzip',
    });
    await script.body?.cancel();
  });
});

describe('the live feed', () => {
  it('the feed begins with the state, and tells of results, rejections and learnings', async () => {
    const session = newSession('live');
    await using feed = await live();
    await feed.heard('state', ({ connected }) => connected === true);
    await publishWork(served.system.client, session, '1');
    const change = await feed.heard('change', (data) => data.session === session);
    expect(change.data).toEqual({ session, type: 'result' });
    await served.system.client.publishText(session, 'implementer', 'no result at all');
    const rejected = await feed.heard('rejected');
    expect(rejected.data).toMatchObject({ session });
    await served.system.client.learnings.propose({
      project: 'live',
      content: 'Run the linter before each commit',
      type: 'pattern',
      confidence: 0.9,
    });
    await feed.heard('learning', ({ project }) => project === 'live');
  });
});

describe('a reader', () => {
  it('a reader sees, and is told that deciding takes the operator role', async () => {
    await using reading = await serveInspected({ system: served.system, role: 'reader' });
    const me = await (await reading.fetch('/api/me')).json();
    expect(me).toMatchObject({ decides: false });
    expect((await reading.ask('proposal.list', {})).status).toBe(200);
    const error = { code: 'permission_denied', message: expect.stringContaining('role operator') };
    for (const subject of ['proposal.accept', 'tool.rejected-retry', 'tool.rejected-remove'])
      expect(await reading.ask(subject, { id: '1' })).toEqual({ status: 403, body: { error } });
    const decided = await served.ask('proposal.accept', { id: 'PRO-999' });
    expect(decided).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });
});

it('requests are refused at once while the server is lost, and answered once it is back', async () => {
  const session = newSession('lost');
  await served.system.client.tools.sessionOpen({ session });
  const status = () => served.ask('run.status', { session });
  await nats.kill();
  await soon(async () => expect((await status()).status).toBe(503));
  const begun = performance.now();
  expect(await status()).toMatchObject({
    body: { error: { code: 'unavailable', message: expect.stringContaining('tried again') } },
  });
  expect(performance.now() - begun).toBeLessThan(1000);
  expect((await served.fetch('/')).status).toBe(200);
  await nats.restart();
  await soon(async () =>
    expect(await status()).toMatchObject({ status: 200, body: { session: { status: 'open' } } }),
  );
});
