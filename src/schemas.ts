/** `throughline/schemas`: the zod schemas of what travels on the wire. */
import './globals.js';

export { compileRequest } from './contracts/compile-request.js';
export { learningEvent } from './contracts/learning-events.js';
export { REQUESTS } from './contracts/requests.js';
export { explicitFact, RESULTS, reviewIssue, taskId, testRun } from './contracts/results.js';
export { sessionEvent } from './contracts/session-events.js';
export { traceEntry } from './contracts/trace-entry.js';
