import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig, stateDirOf, unknownVariables } from '../../src/config/config.js';
import { FIXED, SETTINGS } from '../../src/config/settings.js';
import { messageOf } from '../../src/contracts/errors.js';

const NUMBERS: readonly (readonly [variable: string, option: string, low: number, high: number])[] = [
  ['THROUGHLINE_REPLICAS', 'replicas', 1, 5],
  ['THROUGHLINE_MAX_BODY_BYTES', 'maxBodyBytes', 1024, 8_388_608],
  ['THROUGHLINE_REQUESTS_PER_SECOND', 'requestsPerSecond', 0, 1_000_000],
  ['THROUGHLINE_ACK_WAIT_MS', 'ackWaitMs', 500, 3_600_000],
  ['THROUGHLINE_EMBED_DEADLINE_MS', 'embedDeadlineMs', 1, 60_000],
  ['THROUGHLINE_SNAPSHOT_EVERY', 'snapshotEvery', 1, 100_000],
  ['THROUGHLINE_CACHE_MB', 'cacheMb', 1, 100_000],
  ['THROUGHLINE_AFTER_TIMEOUT_MS', 'afterTimeoutMs', 0, 600_000],
  ['THROUGHLINE_REQUEST_TIMEOUT_MS', 'requestTimeoutMs', 100, 600_000],
  ['THROUGHLINE_SHUTDOWN_MS', 'shutdownMs', 100, 600_000],
];

/** The message of the error that this environment leads to. */
function refusal(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    expect(error).toMatchObject({ code: 'config_invalid' });
    return messageOf(error);
  }
  throw new Error('the configuration was accepted');
}

describe('without any variable', () => {
  const env = Object.freeze({ HOME: '/me', XDG_CACHE_HOME: '/xdg' });

  it('every option has its default without any variable', () => {
    expect(loadConfig(env)).toEqual({
      ...FIXED,
      natsUrl: undefined,
      access: { tlsFirst: false },
      session: undefined,
      project: undefined,
      logLevel: 'info',
      replicas: 1,
      maxBodyBytes: 262_144,
      requestsPerSecond: 1000,
      redact: true,
      ackWaitMs: 10_000,
      tasksRoots: [process.cwd()],
      embedder: undefined,
      embedDeadlineMs: 150,
      snapshotEvery: 100,
      cacheMb: 24,
      afterTimeoutMs: 4500,
      requestTimeoutMs: 5000,
      shutdownMs: 10_000,
      cacheDir: '/xdg/throughline',
      env,
    });
  });

  it('the configuration is the same with empty variables as with none', () => {
    const names = [
      'NATS_URL',
      'THROUGHLINE_SESSION',
      'THROUGHLINE_PROJECT',
      'THROUGHLINE_LOG_LEVEL',
      'THROUGHLINE_REDACT',
      ...NUMBERS.map(([name]) => name),
    ];
    const empty = { ...env, ...Object.fromEntries(names.map((name) => [name, ''])) };
    expect({ ...loadConfig(empty), env }).toEqual(loadConfig(env));
  });

  it('the configuration is frozen without any variable', () => {
    const config = loadConfig(env);
    expect(Object.isFrozen(config)).toBe(true);
    expect(Reflect.set(config, 'cacheMb', 1)).toBe(false);
  });
});

describe('a number', () => {
  it.each(NUMBERS)(
    'the number %s is taken from its lowest to its highest value',
    (variable, option, low, high) => {
      expect(loadConfig({ [variable]: String(low) })).toMatchObject({ [option]: low });
      expect(loadConfig({ [variable]: String(high) })).toMatchObject({ [option]: high });
    },
  );

  it.each(NUMBERS)(
    'the number %s is refused with its name and value when it is wrong',
    (variable, _option, low, high) => {
      for (const wrong of [
        String(low - 1),
        String(high + 1),
        '1e99',
        '10.5',
        '12s',
        'many',
        'NaN',
        '0b',
        ' ',
      ]) {
        expect(refusal({ [variable]: wrong })).toBe(
          `${variable} is ${JSON.stringify(wrong)}: use a whole number from ${low} to ${high}`,
        );
      }
    },
  );

  it('a wrong number is refused together with every other wrong one', () => {
    const message = refusal({
      THROUGHLINE_REPLICAS: '9',
      NATS_URL: 'nats://x',
      THROUGHLINE_CACHE_MB: 'all',
    });
    expect(message).toContain('THROUGHLINE_REPLICAS is "9"');
    expect(message).toContain('THROUGHLINE_CACHE_MB is "all"');
    expect(message).not.toContain('NATS_URL');
  });
});

describe('text', () => {
  it('a text setting is taken as it is', () => {
    const env = {
      NATS_URL: 'nats://a,nats://b',
      THROUGHLINE_SESSION: 'demo',
      THROUGHLINE_PROJECT: 'my app',
      THROUGHLINE_LOG_LEVEL: 'silent',
    };
    expect(loadConfig(env)).toMatchObject({
      natsUrl: env.NATS_URL,
      session: 'demo',
      project: 'my app',
      logLevel: 'silent',
      env,
    });
  });

  it('an unknown log level is refused with its name, its value and the right ones', () => {
    expect(refusal({ THROUGHLINE_LOG_LEVEL: 'loud' })).toBe(
      'THROUGHLINE_LOG_LEVEL is "loud": use one of trace, debug, info, warn, error, silent',
    );
  });

  it('the redaction setting says whether secrets are redacted', () => {
    expect(loadConfig({ THROUGHLINE_REDACT: 'off' }).redact).toBe(false);
    expect(loadConfig({ THROUGHLINE_REDACT: 'on' }).redact).toBe(true);
    expect(refusal({ THROUGHLINE_REDACT: 'no' })).toBe('THROUGHLINE_REDACT is "no": use on or off');
  });

  it('the cache directory setting moves the cache', () => {
    expect(loadConfig({ THROUGHLINE_CACHE_DIR: '/tl' }).cacheDir).toBe('/tl');
  });

  it('the state of hooks lies where the system keeps states, and never in a relative folder', () => {
    expect(stateDirOf({ XDG_STATE_HOME: '/state' })).toBe('/state/throughline');
    const usual = join(homedir(), '.local/state/throughline');
    expect(stateDirOf({})).toBe(usual);
    expect(stateDirOf({ XDG_STATE_HOME: 'state' })).toBe(usual);
  });
});

describe('the embedder', () => {
  const URL_AND_MODEL = {
    THROUGHLINE_EMBED_URL: 'http://127.0.0.1:11434',
    THROUGHLINE_EMBED_MODEL: 'minilm',
  };

  it('the embedder is an endpoint with its model, and a key if there is one', () => {
    const embedder = {
      kind: 'http',
      url: 'http://127.0.0.1:11434',
      model: 'minilm',
      key: undefined,
      timeoutMs: 10_000,
      batch: 64,
    };
    expect(loadConfig(URL_AND_MODEL).embedder).toEqual(embedder);
    const more = { ...URL_AND_MODEL, THROUGHLINE_EMBED_KEY: 'sk-1' };
    expect(loadConfig(more, { embedTimeoutMs: 500, embedBatch: 8 }).embedder).toEqual({
      ...embedder,
      key: 'sk-1',
      timeoutMs: 500,
      batch: 8,
    });
  });

  it('the embedder may be a directory', () => {
    expect(loadConfig({ THROUGHLINE_EMBED_DIR: 'models/minilm' }).embedder).toEqual({
      kind: 'local',
      dir: 'models/minilm',
    });
  });

  it('the embedder cannot be both a directory and an endpoint, nor an endpoint without a model', () => {
    expect(refusal({ ...URL_AND_MODEL, THROUGHLINE_EMBED_DIR: '/model' })).toBe(
      'THROUGHLINE_EMBED_URL and THROUGHLINE_EMBED_DIR are both set: use one of them',
    );
    expect(refusal({ ...URL_AND_MODEL, THROUGHLINE_EMBED_MODEL: '' })).toBe(
      'THROUGHLINE_EMBED_URL is set without THROUGHLINE_EMBED_MODEL: name the model that the endpoint has',
    );
  });

  it.each(['localhost', 'ftp://host', 'http://', 'http://me:pass@host', 'nonsense'])(
    'the embedder refuses the address %j without repeating it',
    (url) => {
      const text = refusal({ ...URL_AND_MODEL, THROUGHLINE_EMBED_URL: url });
      expect(text).toBe(
        'THROUGHLINE_EMBED_URL is not an address: use http://host:port or https://host, without user and password',
      );
    },
  );

  it.each(['sk-1\n', 'sk 1', 'schlüssel'])('the embedder refuses the key %j without repeating it', (key) => {
    const text = refusal({ ...URL_AND_MODEL, THROUGHLINE_EMBED_KEY: key });
    expect(text).toBe(
      'THROUGHLINE_EMBED_KEY holds characters that a key cannot have: use printable ASCII without spaces',
    );
  });
});

describe('access to NATS', () => {
  it('access to NATS is read from the variables of the nats command line, and from two of Throughline', () => {
    const env = {
      NATS_USER: 'u',
      NATS_PASSWORD: 'p',
      NATS_TOKEN: 't',
      NATS_NKEY: 'n',
      NATS_CREDS: 'c',
      NATS_CA: 'a',
      NATS_CERT: 'e',
      NATS_KEY: 'k',
      THROUGHLINE_TLS_FIRST: '1',
      THROUGHLINE_INBOX_PREFIX: '_INBOX_me',
    };
    expect(loadConfig(env).access).toEqual({
      user: 'u',
      password: 'p',
      token: 't',
      nkey: 'n',
      creds: 'c',
      ca: 'a',
      cert: 'e',
      key: 'k',
      tlsFirst: true,
      inboxPrefix: '_INBOX_me',
    });
  });

  it('access to NATS takes 1 and 0 for TLS first, and nothing else', () => {
    expect(loadConfig({ THROUGHLINE_TLS_FIRST: '0' }).access.tlsFirst).toBe(false);
    expect(refusal({ THROUGHLINE_TLS_FIRST: 'yes' })).toBe('THROUGHLINE_TLS_FIRST is "yes": use 1 or 0');
  });
});

describe('the inspector', () => {
  it('the inspector refuses a token that is short or cannot stand in a URL, without repeating it', () => {
    for (const token of ['short', 'sixteen letters!', 'a'.repeat(129)]) {
      expect(refusal({ THROUGHLINE_INSPECTOR_TOKEN: token })).toBe(
        'THROUGHLINE_INSPECTOR_TOKEN is not a token: use 16 to 128 characters of A-Z a-z 0-9 _ and -',
      );
    }
    expect(loadConfig({ THROUGHLINE_INSPECTOR_TOKEN: 'abcdefghABCD_-01' }).inspectorToken).toBe(
      'abcdefghABCD_-01',
    );
  });

  it('the inspector has no role of its own, and takes one of two', () => {
    expect(loadConfig({}).inspectorRole).toBeUndefined();
    expect(refusal({ THROUGHLINE_INSPECTOR_ROLE: 'admin' })).toBe(
      'THROUGHLINE_INSPECTOR_ROLE is "admin": use reader or operator',
    );
  });
});

describe('the settings', () => {
  it('there are at most 34 settings, each with a variable of its own', () => {
    const variables = Object.values(SETTINGS).map(({ variable }) => variable);
    expect(variables.length).toBeLessThanOrEqual(34);
    expect(new Set(variables).size).toBe(variables.length);
  });
});

describe('variables that nothing reads', () => {
  it('variables that nothing reads are named, except for those of other programs, of tests and of Kubernetes', () => {
    const theirs = {
      THROUGHLINE_TEST_NATS: 'native',
      THROUGHLINE_SERVICE_HOST: '10.0.0.1',
      THROUGHLINE_PORT: 'tcp://10.0.0.1:4222',
      THROUGHLINE_PORT_4222_TCP: 'tcp://10.0.0.1:4222',
      THROUGHLINE_NATS_SERVICE_HOST: '10.0.0.2',
      THROUGHLINE_NATS_SERVICE_PORT_CLIENT: '4222',
      THROUGHLINE_NATS_PORT: 'tcp://10.0.0.2:4222',
      THROUGHLINE_NATS_PORT_4222_TCP_ADDR: '10.0.0.2',
    };
    const ours = { THROUGHLINE_REPLICAS: '3', THROUGHLINE_CACHE_DIR: '/cache', NATS_URL: '', HOME: '/me' };
    expect(unknownVariables({ ...theirs, ...ours })).toEqual([]);
    expect(unknownVariables({ ...ours, THROUGHLINE_REPLICA: '3', THROUGHLINE_REDACTED: 'on' })).toEqual([
      'THROUGHLINE_REPLICA',
      'THROUGHLINE_REDACTED',
    ]);
  });
});
