import { codeOf } from '../../contracts/errors.js';
import { DISPATCH_STREAM } from '../../contracts/names.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import { highestSeen, type NumbersPorts, numbersFault, REPAIR } from '../jetstream/dispatch-numbers.js';
import { type Finding, fail } from './finding.js';

/** The dispatches' numbers, where they are behind what sessions have seen; nothing where they are not. */
export async function numbersFindings(ports: NumbersPorts): Promise<Finding[]> {
  try {
    const seen = await highestSeen(ports);
    const fault = await numbersFault(ports, seen).catch(async (error: unknown) => {
      if (codeOf(toThroughlineError(error, '')) !== 'permission_denied' || seen === undefined) throw error;
      // A user who may not read results can still see their last sequence.
      const { last_seq: last } = (await ports.jsm.streams.info(DISPATCH_STREAM)).state;
      const message = `stream ${DISPATCH_STREAM} is at ${last}, but ${seen.stream} has dispatch ${seen.sequence}`;
      return last < seen.sequence ? { message } : undefined;
    });
    return fault === undefined ? [] : [fail(`stream ${DISPATCH_STREAM}`, fault.message, REPAIR)];
  } catch (error) {
    // That it is missing has been reported.
    if (apiCode(error) === API.streamNotFound) return [];
    throw toThroughlineError(error, 'comparing numbers of dispatches');
  }
}
