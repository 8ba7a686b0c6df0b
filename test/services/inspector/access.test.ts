import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import {
  knownHost,
  knownHosts,
  sameOrigin,
  securityHeaders,
  signedIn,
} from '../../../src/services/inspector/access.js';

const TOKEN = 'abcdefgh-ABCDEFGH_0123456789';
const COOKIE = `throughline_token_4280=${TOKEN}`;

function app({ hosts = [] as string[], isOpen = false } = {}) {
  const at = isOpen ? '0.0.0.0' : '127.0.0.1';
  const made = new Hono();
  made.use(securityHeaders);
  made.use(knownHost(knownHosts(at, hosts)));
  made.use(signedIn({ token: TOKEN, cookieName: 'throughline_token_4280' }));
  made.use(sameOrigin);
  made.all('*', (c) => c.text('in'));
  return made;
}

const request = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  app().request(`http://127.0.0.1:4280${path}`, { method, headers: { host: '127.0.0.1:4280', ...headers } });

describe('the token', () => {
  it('the right token sets a cookie that scripts cannot read and other sites cannot send, and leaves the address', async () => {
    const response = await request(`/s/demo/facts?token=${TOKEN}&text=a%20b`);
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('/s/demo/facts?text=a+b');
    const cookie = response.headers.get('set-cookie') ?? '';
    expect(cookie.split('; ').sort()).toEqual([COOKIE, 'HttpOnly', 'Path=/', 'SameSite=Strict'].sort());
  });

  it('the cookie is for TLS alone where a proxy speaks it', async () => {
    const response = await request(`/?token=${TOKEN}`, { 'x-forwarded-proto': 'https' });
    expect(response.headers.get('set-cookie')).toContain('; Secure');
  });

  it.each([
    ['without a token', '/', {}, /Run <code>throughline open<\/code>/],
    ['with a wrong one', `/?token=${TOKEN}x`, {}, /token is wrong/],
    ['with an empty one', '/?token=', {}, /token is wrong/],
    ['with a wrong cookie', '/s/demo', { cookie: `${COOKIE}x` }, /<code>throughline open<\/code>/],
    [
      'with the cookie of an inspector on another port',
      '/',
      { cookie: COOKIE.replace('4280', '4281') },
      /<code>throughline open<\/code>/,
    ],
  ])('a page %s is refused, and the answer says what to do', async (_, path, headers, text) => {
    const response = await request(path, headers);
    expect(response.status).toBe(401);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(await response.text()).toMatch(text);
  });

  it('the API answers in JSON without the cookie, and takes no token from the address', async () => {
    for (const path of ['/api/me', `/api/me?token=${TOKEN}`]) {
      const response = await request(path);
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({
        error: { code: 'unauthorized', message: expect.stringContaining('throughline up') },
      });
    }
  });

  it('the cookie lets pages and the API through', async () => {
    for (const path of ['/', '/s/demo', '/api/me']) {
      expect((await request(path, { cookie: COOKIE })).status).toBe(200);
    }
  });

  it('a link on another site, which brings no cookie, gives a page that asks again by itself', async () => {
    const response = await request('/s/demo', { 'sec-fetch-site': 'cross-site' });
    expect(response.status).toBe(401);
    expect(await response.text()).toContain('<meta http-equiv="refresh" content="0">');
    const again = await request('/s/demo', { 'sec-fetch-site': 'same-origin' });
    expect(await again.text()).not.toContain('refresh');
  });

  it('the address to go to names no other host', async () => {
    for (const path of [`//evil.example/?token=${TOKEN}`, `/\\evil.example/?token=${TOKEN}`]) {
      const response = await request(path);
      expect(response.headers.get('location')).toBe('/evil.example/');
    }
  });
});

describe('the origin', () => {
  const post = (headers: Record<string, string>) =>
    request('/api/ask/x', { cookie: COOKIE, ...headers }, 'POST');

  it.each([
    ['the browser says that it comes from the same origin', { 'sec-fetch-site': 'same-origin' }],
    ['its origin is the own one', { origin: 'http://127.0.0.1:4280' }],
    ['a proxy speaks TLS and keeps the host', { origin: 'https://127.0.0.1:4280' }],
  ])('a request passes when %s', async (_, headers) => {
    expect((await post(headers as Record<string, string>)).status).toBe(200);
  });

  it.each([
    ['says nothing of its origin', {}],
    ['is of another site', { 'sec-fetch-site': 'cross-site', origin: 'http://127.0.0.1:4280' }],
    ['is of another port', { 'sec-fetch-site': 'same-site' }],
    ['has another origin', { origin: 'http://evil.example' }],
    ['has no origin', { origin: 'null' }],
  ])('a request is refused when it %s', async (_, headers) => {
    const response = await post(headers as Record<string, string>);
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { code: 'permission_denied' } });
  });
});

describe('the host', () => {
  const withHost = (host: string, options = {}) =>
    app(options).request('http://127.0.0.1:4280/', { headers: { host, cookie: COOKIE } });

  it.each(['127.0.0.1:4280', 'localhost:4280', 'LOCALHOST', '[::1]:4280', '127.0.0.1', 'me.localhost:1'])(
    'the host %s is this machine',
    async (host) => {
      expect((await withHost(host)).status).toBe(200);
    },
  );

  it.each([
    'evil.example',
    'evil.example:4280',
    'localhost.evil.example',
    '10.0.0.5:4280',
    '127.evil.example',
    'a b',
    '',
  ])('the host %j is refused', async (host) => {
    const response = await withHost(host);
    expect(response.status).toBe(403);
    expect(await response.text()).toContain('--inspector-name');
  });

  it('a name that was given is known, and so is an address where it listens to other machines', async () => {
    expect((await withHost('inspect.example', { hosts: ['Inspect.example'] })).status).toBe(200);
    expect((await withHost('10.0.0.5:4280', { isOpen: true })).status).toBe(200);
    expect((await withHost('evil.example', { isOpen: true })).status).toBe(403);
  });
});

describe('the headers', () => {
  it('every answer, refusals included, allows scripts and styles of its own alone, and no frame', async () => {
    for (const headers of [{}, { cookie: COOKIE }, { host: 'evil.example' }]) {
      const response = await request('/', headers);
      expect(response.headers.get('content-security-policy')?.split('; ')).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ]);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      });
    }
  });
});
