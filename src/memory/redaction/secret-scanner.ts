/** A secret in a text. */
export interface Secret {
  /** Short name such as `github` or `privatekey`. */
  readonly rule: string;
  /** UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Finds secrets. An implementation must be pure, and linear in the length of any text. */
export interface SecretScanner {
  /**
   * A cheap check before `find`. Must be true for each text in which `find` would find a secret, and for each text that
   * contains such a text.
   */
  mayHold(text: string): boolean;
  find(text: string): readonly Secret[];
}

/** Disables redaction. */
export const NO_SCANNER: SecretScanner = { mayHold: () => false, find: () => [] };
