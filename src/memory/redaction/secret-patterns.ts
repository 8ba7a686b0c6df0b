import type { Secret } from './redactor.js';

/**
 * Secrets that secretlint does not know, after the rules of gitleaks: generic tokens, URLs of any scheme with a
 * password, encrypted or truncated keys, NATS seeds.
 */
interface SecretPattern {
  readonly rule: string;
  /**
   * A cheap pattern found wherever `pattern` is: it begins with a rare character. It must not check what precedes the
   * secret, because a line break in JSON is a backslash and an n.
   */
  readonly hint: string;
  /** Global. The secret is the group `secret`, or the whole match. */
  readonly pattern: RegExp;
  /** True for a placeholder. */
  readonly standsIn?: (secret: string) => boolean;
}

const PEM = `-----BEGIN[ A-Z0-9]{0,40}(?:PRIVATE KEY|NKEY SEED)(?: BLOCK)?-----`;
const PEM_END = `-{5,6}END[ A-Z0-9]{0,40}(?:PRIVATE KEY|NKEY SEED)(?: BLOCK)?-{5,6}`;

export const AWS_SECRET_HINT = '[Kk](?<=(?:SECRET|[Ss]ecret)_?(?:ACCESS|[Aa]ccess)_?[Kk])';

export const SECRET_PATTERNS: readonly SecretPattern[] = [
  {
    // The whole block, or from its first line if the end is missing.
    rule: 'privatekey',
    hint: '-----BEGIN',
    pattern: new RegExp(
      String.raw`${PEM}(?:(?:(?!-----)[\s\S]){0,20000}${PEM_END}|(?:\s|\\[nrt])*[A-Za-z0-9+/=]{16}[A-Za-z0-9+/=\s\\]*)`,
      'g',
    ),
  },
  {
    rule: 'jwt',
    hint: String.raw`\.eyJ`,
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g,
  },
  {
    rule: 'stripe',
    hint: '_(?<=[sr]k_)(?=live|test|prod)',
    pattern: /(?<![A-Za-z0-9])[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,256}/g,
  },
  {
    rule: 'gcp-api-key',
    hint: 'A(?=Iza)',
    pattern: /(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g,
  },
  {
    rule: 'api-key',
    hint: '-(?<=sk-)(?=[A-Za-z0-9_-]{20})',
    pattern: /(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]{0,64}\d)[A-Za-z0-9_-]{32,256}/g,
  },
  {
    rule: 'nats-seed',
    hint: 'S[ACNOUPX][A-Z2-7]{8}',
    pattern: /(?<![A-Za-z0-9])S[ACNOUPX][A-Z2-7]{56}(?![A-Za-z0-9])/g,
  },
  {
    rule: 'bearer-token',
    hint: 'Bearer ',
    pattern: /(?<![A-Za-z0-9])Bearer {1,8}(?<secret>[A-Za-z0-9._~+/-]{20,4096}=*)/g,
  },
  {
    rule: 'npmrc-token',
    hint: '_(?=authToken=)',
    pattern: /_authToken=(?<secret>[^\s"'$<]{8,512})/g,
  },
  {
    // secretlint's rule finds it too, but reports a wrong end.
    rule: 'aws',
    hint: AWS_SECRET_HINT,
    pattern:
      /(?:SECRET|[Ss]ecret)_?(?:ACCESS|[Aa]ccess)_?(?:KEY|[Kk]ey)(?:\\{0,31}["'])?\s{0,64}(?::|=>|=)\s{0,64}(?:\\{0,31}["'])?(?<secret>[A-Za-z0-9/+=]{40,256})/g,
  },
  {
    // Includes the user, which may be the token.
    rule: 'url-password',
    hint: String.raw`:\/\/[^\s/]*@`,
    pattern: /(?<=:\/\/)[^\s/:@"'<>`]{0,256}:[^\s/@"'<>`]{3,512}(?=@)/g,
    standsIn: (secret) => standsIn(secret.slice(secret.indexOf(':') + 1)),
  },
  {
    rule: 'url-token',
    hint: String.raw`:\/\/[^\s/]*@`,
    pattern: /:\/\/(?<secret>[^\s/:@"'<>`]{20,512})@/g,
    standsIn,
  },
  {
    rule: 'variable',
    hint: '=(?<=(?:PASSWORD|PASSWD|SECRET|TOKEN|KEY)=)',
    pattern:
      /(?:PASSWORD|PASSWD|SECRET|TOKEN|KEY)=(?:\\{0,31}["'])?(?<secret>(?=[^\s"'`;,\\\d]{0,64}\d)[^\s"'`;,$<{(%\\]{8,512})/g,
    standsIn,
  },
];

export function findPattern({ rule, pattern, standsIn: isNone }: SecretPattern, text: string): Secret[] {
  const found: Secret[] = [];
  for (const match of text.matchAll(pattern)) {
    const secret = match.groups?.secret ?? match[0];
    if (isNone?.(secret)) continue;
    // The secret ends the match, except for a closing character.
    const start = match.index + match[0].lastIndexOf(secret);
    found.push({ rule, start, end: start + secret.length });
  }
  return found;
}

const STAND_INS =
  /^(?:pass(?:word)?|pwd|secret|token|user(?:name)?|change-?me|your[-_a-z]*|x{3,}|\*+|\.{3})$/i;

/** Placeholders in documentation: `password`, `${PASSWORD}`, `%s`, `xxx`. */
function standsIn(secret: string): boolean {
  return STAND_INS.test(secret) || /^(?:\$|%[A-Za-z({]|\{)/.test(secret);
}
