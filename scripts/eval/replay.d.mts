/** What a replay needs of the product, from a build or from the sources. */
export interface Product<State> {
  emptyState(session: string): State;
  evolve(state: State, stored: { readonly sequence: number; readonly event: never }): unknown;
  compile(state: State, request: object): EvalReply;
  event(origin: { readonly sequence: number; readonly at: string }, returned: never): unknown;
}
export interface EvalReply {
  readonly prompt: string;
  readonly tokenEstimate: number;
  readonly files?: readonly { readonly path: string }[];
  readonly facts: readonly { readonly subject: string }[];
}
export interface History {
  readonly name: string;
  readonly commits: readonly {
    readonly sha: string;
    readonly subject: string;
    readonly files: readonly string[];
  }[];
}
/** Shares from 0 to 1, tokens of a prompt, and milliseconds. */
export interface FileFigures {
  readonly name: string;
  readonly asked: number;
  readonly recall5: number;
  readonly recall10: number;
  readonly recall20: number;
  readonly mrr: number;
  readonly tokens: number;
  readonly p50: number;
  readonly p99: number;
}
export function historiesIn(folder: string): History[];
export function measureFiles<State>(product: Product<State>, history: History): FileFigures;
export function mean(values: readonly number[]): number;
