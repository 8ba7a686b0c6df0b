/** What one section of a prompt shows of what it could. */
export interface SectionReport {
  readonly name: string;
  /** Items shown, some of them shortened where room was short. */
  readonly shown: number;
  readonly total: number;
  /** Tokens of the items shown. */
  readonly tokens: number;
}

/** How a prompt fills its room. */
export interface BudgetReport {
  /** Tokens that the whole prompt may have, system text included. */
  readonly room: number;
  readonly used: number;
  /** Tokens of the prompt if nothing had been left out. */
  readonly wanted: number;
  /** The sections that there was something to show in. */
  readonly sections: readonly SectionReport[];
  /** Items left out, in all sections. */
  readonly dropped: number;
  /** Name of the tokenizer that counted. */
  readonly tokenizer: string;
}
