/** An address without a listener: unlike a port that was free a moment ago, no process gets this one. */
export const NOBODY = '127.0.0.1:2';
