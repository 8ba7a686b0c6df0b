import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import { NO_SCANNER, type Secret, type SecretScanner } from './redactor.js';
import { hintOf, RULE_HINTS } from './secret-hints.js';
import { findPattern, SECRET_PATTERNS } from './secret-patterns.js';

/**
 * Runs the rules of secretlint's recommended preset and our own.
 *
 * The rules run directly, because secretlint's core is asynchronous and records each run, which is too slow for a hot
 * path. All rules together take 25 µs for a body of 1 KB; the combined hint takes 1 µs. A text with one rule's hint is
 * checked by that rule only: a body may consist of a hundred thousand such texts.
 */

/** The parts of a secretlint rule used here; its package has no types. */
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

/** Text must not disable its own check. */
const NOT_USED = 'filter-comments';
/** An account number is not secret. */
const NO_SECRET = 'AWSAccountID';

export function scannerFor({ redact }: { readonly redact: boolean }): SecretScanner {
  return redact ? secretlintScanner() : NO_SCANNER;
}

/** Stateless between two texts. */
export function secretlintScanner(): SecretScanner {
  let found: Secret[] = [];
  const creators: readonly RuleCreator[] = rules;
  const used = creators.filter(({ meta }) => nameOf(meta.id) !== NOT_USED);
  const checks = used.map((creator) => {
    const rule = nameOf(creator.meta.id);
    const check = creator.create(
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
    const hints = RULE_HINTS[rule] ?? ['(?:)'];
    // Rules without a hint read other kinds of files.
    return { check, hint: new RegExp(hints.length === 0 ? '(?!)' : hints.join('|')) };
  });
  const patterns = SECRET_PATTERNS.map((pattern) => ({ pattern, hint: new RegExp(pattern.hint) }));
  const hint = hintOf(used.map(({ meta }) => nameOf(meta.id)));
  return {
    mayHold: (text) => hint.test(text),
    find(text) {
      if (!hint.test(text)) return [];
      found = patterns.flatMap((rule) => (rule.hint.test(text) ? findPattern(rule.pattern, text) : []));
      for (const { check, hint: checkHint } of checks)
        if (checkHint.test(text)) check.file({ content: text, ext: '', contentType: 'text' });
      return found;
    },
  };
}

export function ruleNames(): string[] {
  return rules.map((rule: RuleCreator) => nameOf(rule.meta.id)).filter((name: string) => name !== NOT_USED);
}

function nameOf(id: string): string {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id;
}
