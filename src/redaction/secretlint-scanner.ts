import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import { AWS_SECRET_HINT, findPattern, SECRET_PATTERNS } from './secret-patterns.js';
import { NO_SCANNER, type Secret, type SecretScanner } from './secret-scanner.js';

/**
 * The rules of secretlint's recommended preset, and those of ours that it lacks.
 *
 * The rules run by themselves: secretlint's core answers in promises and keeps a record of each run, and neither fits
 * a hot path. All of the rules together take 25 µs for a body of 1 KB; the hints, one pattern, take 1 µs.
 */

/** The part of a rule of secretlint that is used here. Its package brings no types along. */
interface RuleCreator {
  readonly meta: { readonly id: string };
  create(context: RuleContext, options: object): { file(source: object): unknown };
}

interface RuleContext {
  readonly locale: string;
  readonly sharedOptions: object;
  createTranslator(): (messageId: string) => { readonly messageId: string };
  report(finding: {
    readonly message: { readonly messageId: string };
    readonly range: readonly [number, number];
  }): void;
  ignore(): void;
}

const PREFIX = '@secretlint/secretlint-rule-';

/** Text must not switch its own check off. */
const NOT_USED = 'filter-comments';
/** An account number is not a secret. */
const NO_SECRET = 'AWSAccountID';

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

/** The scanner, or none where the configuration says so. */
export function scannerFor({ redact }: { readonly redact: boolean }): SecretScanner {
  return redact ? secretlintScanner() : NO_SCANNER;
}

/** Makes the scanner; it keeps nothing between two texts. */
export function secretlintScanner(): SecretScanner {
  let found: Secret[] = [];
  const creators: readonly RuleCreator[] = rules;
  const used = creators.filter(({ meta }) => nameOf(meta.id) !== NOT_USED);
  const checks = used.map((creator) => {
    const rule = nameOf(creator.meta.id);
    return creator.create(
      {
        locale: 'en',
        sharedOptions: {},
        ignore() {},
        createTranslator: () => (messageId) => ({ messageId }),
        report({ message, range: [start, end] }) {
          if (message.messageId !== NO_SECRET) found.push({ rule, start, end });
        },
      },
      { enableIDScanRule: true },
    );
  });
  const hint = hintOf(used.map(({ meta }) => nameOf(meta.id)));
  return {
    mayHold: (text) => hint.test(text),
    find(text) {
      if (!hint.test(text)) return [];
      found = SECRET_PATTERNS.flatMap((pattern) => findPattern(pattern, text));
      for (const check of checks) check.file({ content: text, ext: '', contentType: 'text' });
      return found;
    },
  };
}

/** Short names of the rules that are run. */
export function ruleNames(): string[] {
  return rules.map((rule: RuleCreator) => nameOf(rule.meta.id)).filter((name: string) => name !== NOT_USED);
}

/** One pattern for all hints, those with the same first character together: that is what makes it fast. */
function hintOf(names: readonly string[]): RegExp {
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

function nameOf(id: string): string {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id;
}
