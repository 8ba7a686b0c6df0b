import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig, stateDirOf, unknownVariables } from '../../src/config/config.js';
import { FIXED, SETTINGS, TUNING } from '../../src/config/settings.js';
import { messageOf } from '../../src/contracts/errors.js';

const TUNED: readonly (readonly [option: keyof typeof TUNING, low: number, high: number])[] = [
  ['maxBodyBytes', 1024, 8_388_608],
  ['ackWaitMs', 500, 3_600_000],
  ['snapshotEvery', 1, 100_000],
  ['cacheMb', 1, 100_000],
  ['afterTimeoutMs', 0, 600_000],
  ['requestTimeoutMs', 100, 600_000],
  ['shutdownMs', 100, 600_000],
];
/** How each number is set, and how an error about it begins. */
const NUMBERS = [
  {
    option: 'replicas',
    low: 1,
    high: 5,
    said: 'THROUGHLINE_REPLICAS',
    env: (raw: string) => ({ THROUGHLINE_REPLICAS: raw }),
  },
  ...TUNED.map(([option, low, high]) => ({
    option,
    low,
    high,
    said: `THROUGHLINE_TUNING has ${option}, which`,
    env: (raw: string) => ({ THROUGHLINE_TUNING: `${option}=${raw}` }),
  })),
];

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
      autostart: '1',
      session: undefined,
      project: undefined,
      logLevel: 'info',
      replicas: 1,
      maxBodyBytes: 262_144,
      redact: true,
      ackWaitMs: 10_000,
      tasksRoots: [process.cwd()],
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
      'THROUGHLINE_REPLICAS',
      'THROUGHLINE_LAYOUT',
      'THROUGHLINE_TUNING',
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
    'the number $option is taken from its lowest to its highest value',
    ({ option, low, high, env }) => {
      expect(loadConfig(env(String(low)))).toMatchObject({ [option]: low });
      expect(loadConfig(env(String(high)))).toMatchObject({ [option]: high });
    },
  );

  it.each(NUMBERS)(
    'the number $option is refused with its name and value when it is wrong',
    ({ low, high, env, said }) => {
      for (const wrong of [String(low - 1), String(high + 1), '1e99', '10.5', '12s', 'many', 'NaN', '0b']) {
        expect(refusal(env(wrong))).toBe(
          `${said} is ${JSON.stringify(wrong)}: use a whole number from ${low} to ${high}`,
        );
      }
    },
  );

  it('a wrong number is refused together with every other wrong one', () => {
    const message = refusal({
      THROUGHLINE_REPLICAS: '9',
      NATS_URL: 'nats://x',
      THROUGHLINE_TUNING: 'cacheMb=all',
    });
    expect(message).toContain('THROUGHLINE_REPLICAS is "9"');
    expect(message).toContain('THROUGHLINE_TUNING has cacheMb, which is "all"');
    expect(message).not.toContain('NATS_URL');
  });
});

describe('text', () => {
  it('an unknown log level is refused with its name, its value and the right ones', () => {
    expect(refusal({ THROUGHLINE_LOG_LEVEL: 'loud' })).toBe(
      'THROUGHLINE_LOG_LEVEL is "loud": use one of trace, debug, info, warn, error, silent',
    );
  });

  it('the state of hooks lies where the system keeps states, and never in a relative folder', () => {
    expect(stateDirOf({ XDG_STATE_HOME: '/state' })).toBe('/state/throughline');
    const usual = join(homedir(), '.local/state/throughline');
    expect(stateDirOf({})).toBe(usual);
    expect(stateDirOf({ XDG_STATE_HOME: 'state' })).toBe(usual);
  });
});

describe('the layout', () => {
  it('the layout may say its number of shards, and else says nothing of it', () => {
    expect(loadConfig({ THROUGHLINE_LAYOUT: 'per-session' })).toMatchObject({ layout: 'per-session' });
    expect(loadConfig({ THROUGHLINE_LAYOUT: 'sharded' }).shards).toBeUndefined();
    expect(loadConfig({ THROUGHLINE_LAYOUT: 'sharded:128' })).toMatchObject({
      layout: 'sharded',
      shards: 128,
    });
  });

  it.each(['many', 'sharded:', 'sharded:3', 'sharded:512', 'sharded:8:8', 'per-session:4', ':4'])(
    'the layout refuses %j with its value and the right ones',
    (wrong) => {
      expect(refusal({ THROUGHLINE_LAYOUT: wrong })).toBe(
        `THROUGHLINE_LAYOUT is ${JSON.stringify(wrong)}: use per-session, sharded, or sharded:N with a power of two from 1 to 256`,
      );
    },
  );
});

describe('several numbers in one variable', () => {
  it('several numbers in one variable are told apart by blanks, and the others have their defaults', () => {
    expect(loadConfig({ THROUGHLINE_TUNING: ' cacheMb=64\n snapshotEvery=50 ' })).toMatchObject({
      cacheMb: 64,
      snapshotEvery: 50,
      ackWaitMs: 10_000,
    });
  });

  it.each(['cacheMB=64', 'toString=1', '64', '='])(
    'several numbers in one variable refuse %j with the names that there are',
    (wrong) => {
      const name = wrong.split('=', 1)[0];
      expect(refusal({ THROUGHLINE_TUNING: wrong })).toBe(
        `THROUGHLINE_TUNING names "${name}": use NAME=VALUE of ${Object.keys(TUNING).join(', ')}`,
      );
    },
  );
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
});

describe('the settings', () => {
  it('there are at most 25 settings, each with a variable of its own', () => {
    const variables = Object.values(SETTINGS).map(({ variable }) => variable);
    expect(variables.length).toBeLessThanOrEqual(25);
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
    const ours = { THROUGHLINE_REPLICAS: '3', THROUGHLINE_TUNING: 'cacheMb=8', NATS_URL: '', HOME: '/me' };
    expect(unknownVariables({ ...theirs, ...ours })).toEqual([]);
    expect(unknownVariables({ ...ours, THROUGHLINE_REPLICA: '3', THROUGHLINE_REDACTED: 'on' })).toEqual([
      'THROUGHLINE_REPLICA',
      'THROUGHLINE_REDACTED',
    ]);
  });
});
