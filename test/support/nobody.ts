/** An address where nobody listens: unlike a port that was free a moment ago, this one is given to nobody. */
export const NOBODY = '127.0.0.1:2';
