/** `throughline/schemas`: the zod schemas of what travels on the wire. */
import './globals.js';

export { compileRequest } from './contracts/compile-request.js';
export { learningEvent } from './contracts/learning-events.js';
export { LEARNING_REQUESTS } from './contracts/learning-requests.js';
export { explicitFact, RESULTS, reviewIssue, taskId, testRun } from './contracts/results.js';
export { runInitRequest, runStatusRequest } from './contracts/run-request.js';
export { sessionEvent } from './contracts/session-events.js';
export { TOOLS } from './contracts/tool-requests.js';
export {
  traceAppendRequest,
  traceCompactRequest,
  traceEntry,
  traceGetRequest,
  tracePinRequest,
} from './contracts/trace-entry.js';
