import * as fc from './properties.js';

/** Made-up secrets of every kind that is redacted: none of them ever opened anything. */

/** A text with a secret in it, and the secret: what must not be left of the text. */
export interface Planted {
  readonly text: string;
  readonly secret: string;
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const DIGITS = '0123456789';
const ALNUM = LOWER + UPPER + DIGITS;

function chars(alphabet: string, min: number, max = min): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom(...alphabet), { minLength: min, maxLength: max })
    .map((each) => each.join(''));
}

/** A secret that is the whole of what stands there. */
function whole(prefix: string, rest: fc.Arbitrary<string>, suffix = ''): fc.Arbitrary<Planted> {
  return rest.map((body) => ({ text: `${prefix}${body}${suffix}`, secret: `${prefix}${body}${suffix}` }));
}

function within(before: string, secret: fc.Arbitrary<string>, after = ''): fc.Arbitrary<Planted> {
  return secret.map((body) => ({ text: `${before}${body}${after}`, secret: body }));
}

/** No password that documentation would write. */
const password = chars(ALNUM, 10, 24).map((body) => `q7${body}`);
const base64Lines = chars(ALNUM, 300, 600).map((body) => `MII${body}`.match(/.{1,64}/g)?.join('\n') ?? '');

function pem(kind: string, end = true): fc.Arbitrary<Planted> {
  return base64Lines.map((body) => ({
    text: `-----BEGIN ${kind}PRIVATE KEY-----\n${body}${end ? `\n-----END ${kind}PRIVATE KEY-----` : ''}`,
    secret: body,
  }));
}

const jwt = fc
  .tuple(chars(ALNUM, 20, 40), chars(ALNUM, 20, 80), chars(`${ALNUM}_-`, 43))
  .map(([head, payload, signature]) => `eyJ${head}.eyJ${payload}.${signature}`);

/** By the rule that finds it. */
export const SECRETS: Readonly<Record<string, fc.Arbitrary<Planted>>> = {
  aws: fc.oneof(
    whole('AKIA', chars(UPPER + DIGITS, 16)),
    whole('ASIA', chars(UPPER + DIGITS, 16)),
    within('aws_secret_access_key = ', chars(ALNUM, 40)),
    within('AWS_SECRET_ACCESS_KEY="', chars(ALNUM, 40), '"'),
    within('secretAccessKey: '.replace('A', '_a').replace('K', '_k'), chars(ALNUM, 40)),
  ),
  privatekey: fc.oneof(
    pem('RSA '),
    pem('EC '),
    pem(''),
    pem('OPENSSH '),
    pem('ENCRYPTED '),
    pem('RSA ', false),
    within(
      '-----BEGIN USER NKEY SEED-----\n',
      whole('SU', chars(`${UPPER}234567`, 56)).map(({ text }) => text),
    ),
  ),
  npm: fc.oneof(
    whole('npm_', chars(ALNUM, 36)),
    within('https://', chars(ALNUM, 40), ':x-oauth-basic@github.com/o/r.git'),
  ),
  basicauth: within('https://alice:', password, '@build.internal.net/x'),
  slack: fc.oneof(
    whole('xoxb-', chars(DIGITS, 10), `-${'a1B2'.repeat(6)}`),
    whole('https://hooks.slack.com/services/T', chars(UPPER, 8), `/B${'A1'.repeat(4)}/${'a1B2'.repeat(6)}`),
  ),
  sendgrid: chars(ALNUM, 22).chain((id) => whole(`SG.${id}.`, chars(ALNUM, 43))),
  shopify: whole('shpat_', chars(ALNUM, 32)),
  github: fc.oneof(
    ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((prefix) => whole(prefix, chars(ALNUM, 36))),
    whole('github_pat_', chars(ALNUM, 82)),
  ),
  gitlab: whole('glpat-', chars(ALNUM, 20)),
  grafana: fc.oneof(whole('glc_', chars(ALNUM, 40)), whole('glsa_', chars(ALNUM, 32), '_0123abcd')),
  openai: fc.oneof(
    whole('sk-', chars(ALNUM, 20), `T3BlbkFJ${'a1B2'.repeat(5)}`),
    whole('sk-proj-', chars(ALNUM, 74), `T3BlbkFJ${'a1B'.repeat(24)}xy`),
  ),
  anthropic: whole('sk-ant-api03-', chars(ALNUM, 93), 'AA'),
  groq: whole('gsk_', chars(ALNUM, 52)),
  huggingface: whole('hf_', chars(LOWER + UPPER, 34)),
  linear: whole('lin_api_', chars(ALNUM, 40)),
  notion: whole('ntn_', chars(DIGITS, 11), 'a1B2c'.repeat(7)),
  '1password': chars(ALNUM, 120).map((body) => {
    // Encoded, it ends in `fQ`: the last byte, a brace, stands alone in its group of three.
    const json = `{"k":"${body}","e":{"ab":1}}`;
    const encoded = Buffer.from(
      json.replace('"k"', `"k${'k'.repeat((4 - (json.length % 3)) % 3)}"`),
    ).toString('base64');
    return { text: `ops_${encoded}`, secret: encoded };
  }),
  'database-connection-string': fc.oneof(
    ...['mongodb', 'mongodb+srv', 'mysql', 'postgres', 'postgresql'].map((scheme) =>
      within(`${scheme}://app:`, password, '@db.internal:5432/app?ssl=true'),
    ),
  ),
  'hashicorp-vault': fc.oneof(whole('hvs.', chars(ALNUM, 95)), whole('hvb.', chars(ALNUM, 140))),
  vercel: whole('vcp_', chars(ALNUM, 24)),
  databricks: whole('dapi', chars('0123456789abcdef', 32)),
  docker: whole('dckr_pat_', chars(ALNUM, 27)),
  figma: whole('figd_', chars(ALNUM, 44)),
  jwt: jwt.map((text) => ({ text, secret: text })),
  stripe: fc.oneof(whole('sk_live_', chars(ALNUM, 24)), whole('rk_test_', chars(ALNUM, 24))),
  'gcp-api-key': whole('AIza', chars(ALNUM, 35)),
  'api-key': whole('sk-or-v1-', chars('0123456789abcdef', 64)),
  'nats-seed': whole('SU', chars(`${UPPER}234567`, 56)),
  'bearer-token': within('Authorization: Bearer ', chars(`${ALNUM}-._`, 24, 60)),
  'npmrc-token': within('//registry.npmjs.org/:_authToken=', chars(ALNUM, 20)),
  'url-password': fc.oneof(
    within('redis://:', password, '@cache:6379/0'),
    within('nats://deploy:', password, '@127.0.0.1:4222'),
    within(
      'amqps://u:',
      password.map((body) => `${body}!#$%`),
      '@rabbit',
    ),
  ),
  'url-token': within('nats://', chars(ALNUM, 24, 40), '@nats.internal:4222'),
  variable: fc.oneof(
    within('DB_PASSWORD=', password),
    within('export GITHUB_TOKEN="', password, '"'),
    within('{\\"env\\":\\"API_KEY=\\\\\\"', password, '\\\\\\"'),
    within('APP_SECRET=', password, ' npm start'),
  ),
};

/** Any of them. */
export const planted: fc.Arbitrary<Planted> = fc.oneof(...Object.values(SECRETS));

/** One of each, always the same: for tests that send something somewhere. */
export function oneOfEach(): Planted[] {
  return Object.values(SECRETS).flatMap((each, index) => fc.sample(each, { numRuns: 1, seed: 7 + index }));
}

/** Whether so much of a secret is left that it could be used, or guessed. */
export function leaks(text: string, secret: string): boolean {
  const piece = 12;
  if (secret.length <= piece) return text.includes(secret);
  for (let at = 0; at + piece <= secret.length; at += 1) {
    if (text.includes(secret.slice(at, at + piece))) return true;
  }
  return false;
}
