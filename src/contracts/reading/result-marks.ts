/** What stands around a result in a text. */
export const BEGIN = 'BEGIN_DISPATCH_RESULT';
export const END = 'END_DISPATCH_RESULT';
export const FENCE = '```';
