/** A secret in a text: which rule found it, and where it stands. */
export interface Secret {
  /** Short name of the rule: `github`, `privatekey`. */
  readonly rule: string;
  /** First and one past the last UTF-16 unit. */
  readonly start: number;
  readonly end: number;
}

/** Finds secrets. An implementer must be pure, and must take time in proportion to the text, whatever it holds. */
export interface SecretScanner {
  /**
   * Whether the text may hold a secret: a cheap test that comes before `find`. Must be true for each text in which
   * `find` would find one, and for each text that contains such a text.
   */
  mayHold(text: string): boolean;
  find(text: string): readonly Secret[];
}

/** Finds nothing: redaction is switched off. */
export const NO_SCANNER: SecretScanner = { mayHold: () => false, find: () => [] };
