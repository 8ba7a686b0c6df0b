import { AWS_SECRET_HINT, SECRET_PATTERNS } from './secret-patterns.js';

/** Cheap checks for texts that may contain a secret, without loading the rules, which takes as long as a whole hook. */

const URL_WITH_USER = String.raw`:\/\/[^\s/]*@`;

/**
 * Patterns by rule, one of which every secret contains; each begins with a rare character. A rule without hints would
 * run on every text; a test ensures that there is none. Rules that read only other kinds of files have an empty list.
 */
export const RULE_HINTS: Readonly<Record<string, readonly string[]>> = {
  aws: ['A(?:3T|KIA|GPA|IDA|ROA|IPA|NPA|NVA|SIA)[A-Z0-9]{8}', AWS_SECRET_HINT],
  gcp: [],
  privatekey: ['-----BEGIN'],
  npm: ['_(?<=npm_)', '-(?=basic@github)'],
  basicauth: [URL_WITH_USER],
  slack: ['-(?<=xox[abopr]-|xapp-)', String.raw`\.(?=[Ss][Ll][Aa][Cc][Kk]\.)`],
  sendgrid: [String.raw`\.(?<=SG\.)`],
  shopify: ['_(?<=shp(?:pa|ca|at|ss)_)'],
  github: ['_(?<=gh[oprsu]_|github_pat_)'],
  gitlab: ['-(?<=glpat-)'],
  grafana: ['_(?<=glc_|glsa_)'],
  openai: ['-(?<=sk-)(?=proj-|svcacct-|admin-|[A-Za-z0-9]{20})'],
  anthropic: ['-(?<=sk-)(?=ant-)'],
  groq: ['_(?<=gsk_)'],
  huggingface: ['_(?<=hf_)'],
  linear: ['_(?<=lin_api_)'],
  notion: ['_(?<=ntn_)'],
  '1password': ['_(?<=ops_)'],
  'database-connection-string': [URL_WITH_USER],
  'hashicorp-vault': [String.raw`\.(?<=hv[bsr]\.)`],
  vercel: ['_(?<=vc[aikpr]_)'],
  databricks: ['d(?=api[A-Fa-f0-9]{8})'],
  docker: ['_(?<=dckr_pat_)'],
  figma: ['_(?<=figd_)'],
};

/** Returns true for every text in which the scanner would find a secret. */
export function mayHoldSecret(text: string): boolean {
  anyHint ??= hintOf(Object.keys(RULE_HINTS));
  return anyHint.test(text);
}
let anyHint: RegExp | undefined;

/** Combines all hints, grouped by their first character, which makes matching fast. */
export function hintOf(names: readonly string[]): RegExp {
  const hints = [
    ...names.flatMap((name) => RULE_HINTS[name] ?? ['(?:)']),
    ...SECRET_PATTERNS.map(({ hint }) => hint),
  ];
  const rest = new Map<string, string[]>();
  for (const hint of new Set(hints)) {
    const [first = ''] = /^(?:\\.|\[[^\]]*\]|[^(])/.exec(hint) ?? [];
    rest.set(first, [...(rest.get(first) ?? []), hint.slice(first.length)]);
  }
  return new RegExp([...rest].map(([first, more]) => `${first}(?:${more.join('|')})`).join('|'));
}
