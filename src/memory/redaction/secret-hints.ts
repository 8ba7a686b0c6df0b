import { AWS_SECRET_HINT, SECRET_PATTERNS } from './secret-patterns.js';

/** What tells cheaply that a text may hold a secret. It needs no rule to be loaded, which takes as long as a whole hook. */

const URL_WITH_USER = String.raw`:\/\/[^\s/]*@`;

/**
 * Patterns of which every secret of a rule holds one; each begins with one rare character. A rule without a hint would
 * be run on every text; a test makes sure that there is none. A rule that reads files of a kind only, and so finds
 * nothing in a text, has an empty list.
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

/** Whether a text may hold a secret of any rule: true for each text in which the scanner would find one. */
export function mayHoldSecret(text: string): boolean {
  anyHint ??= hintOf(Object.keys(RULE_HINTS));
  return anyHint.test(text);
}
let anyHint: RegExp | undefined;

/** One pattern for all hints, those with the same first character together: that is what makes it fast. */
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
