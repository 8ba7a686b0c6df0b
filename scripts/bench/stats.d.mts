export function quantile(values: readonly number[], q: number): number;
export function median(values: readonly number[]): number;
