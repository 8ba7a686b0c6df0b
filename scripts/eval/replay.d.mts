/** What a replay needs of the product, from a build or from the sources. */
export interface Product<State> {
  emptyState(session: string): State;
  evolve(state: State, stored: { readonly sequence: number; readonly event: never }): unknown;
  compile(state: State, request: object): EvalReply;
  event(origin: { readonly sequence: number; readonly at: string }, returned: never): unknown;
  tokens(text: string): readonly string[];
}
export interface EvalReply {
  readonly prompt: string;
  readonly tokenEstimate: number;
  readonly files?: readonly { readonly path: string }[];
  readonly facts?: readonly { readonly subject: string; readonly task: string }[];
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
  /** The same with ten facts, and with all that fit the task. */
  readonly ten: number;
  readonly fitting: number;
  readonly p50: number;
  readonly p99: number;
}
export function historiesIn(folder: string): History[];
export function measureFiles<State>(product: Product<State>, history: History): FileFigures;
/** What one prompt of a size holds of the facts of use. */
export interface UseFigures {
  readonly name: string;
  readonly room: string;
  readonly tokens: number;
  /** Share of all earlier commits that are of use. */
  readonly chance: number;
  readonly hit: number;
  readonly share: number;
}
export function measureUse<State>(product: Product<State>, history: History): UseFigures[];
/** One question for what was planted. */
export interface PlantFigures {
  readonly name: string;
  readonly distance: number;
  readonly kind: 'must_fix' | 'convention' | 'decision';
  /** The half that was in view when the ranking was made, or the other one. */
  readonly half: 'seen' | 'held out';
  readonly words: 'a common word' | 'no common word';
  readonly asked: string;
  /** Whether the best ten facts hold it, and whether the whole prompt does. */
  readonly shown: boolean;
  readonly inPrompt: boolean;
}
/** @param random gives numbers from 0 to 1 */
export function measurePlants<State>(
  product: Product<State>,
  history: History,
  distances: readonly number[],
  random: () => number,
): PlantFigures[];
export function seeded(seed: number): () => number;
export function mean(values: readonly number[]): number;
