import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { knownHost, knownHosts, securityHeaders, signedIn } from '../../../src/services/inspector/access.js';
import { TOKEN_HEADER } from '../../../src/shared/wire-words.js';

const TOKEN = 'abcdefgh-ABCDEFGH_0123456789';
const SIGNED = { [TOKEN_HEADER]: TOKEN };

function app({ hosts = [] as string[], isOpen = false } = {}) {
  const at = isOpen ? '0.0.0.0' : '127.0.0.1';
  const made = new Hono();
  made.use(securityHeaders);
  made.use(knownHost(knownHosts(at, hosts)));
  made.use('/api/*', signedIn(TOKEN));
  made.all('*', (c) => c.text('in'));
  return made;
}

const request = (path: string, headers = {}) =>
  app().request(`http://127.0.0.1:4280${path}`, { headers: { host: '127.0.0.1:4280', ...headers } });

describe('the token', () => {
  it('a header lets requests to the API through, and the feed takes the token from its address too', async () => {
    expect((await request('/api/me', SIGNED)).status).toBe(200);
    expect((await request(`/api/live?token=${TOKEN}`)).status).toBe(200);
  });

  it.each([
    ['without it', '/api/me', {}],
    ['with a wrong one', '/api/me', { [TOKEN_HEADER]: `${TOKEN}x` }],
    ['with an empty one', '/api/me', { [TOKEN_HEADER]: '' }],
    ['with it in the address', `/api/me?token=${TOKEN}`, {}],
    ['with it in a cookie, which other ports would get', '/api/me', { cookie: `token=${TOKEN}` }],
    ['with a wrong one for the feed', `/api/live?token=${TOKEN}x`, {}],
  ])('a request %s is refused, and the answer says what to do', async (_, path, headers) => {
    const response = await request(path, headers);
    expect([response.status, await response.json()]).toEqual([
      401,
      { error: { code: 'unauthorized', message: expect.stringContaining('throughline open') } },
    ]);
  });
});

describe('the host', () => {
  const withHost = (host: string, options = {}) =>
    app(options).request('http://127.0.0.1:4280/', { headers: { host } });

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
    for (const headers of [{}, { host: 'evil.example' }]) {
      const response = await request('/api/me', headers);
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
