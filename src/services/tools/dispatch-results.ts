import type { DispatchResult } from '../../contracts/replies/dispatch-result.js';
import type { SessionEvent } from '../../contracts/session-events.js';
import { caughtUp } from '../../engine/folding/caught-up.js';
import { factsOfEvent } from '../../memory/facts/statements.js';
import { factsOf, rejectionsOf, type SessionState } from '../../memory/session/session-state.js';
import type { ToolPorts } from '../common/service-context.js';
import type { Asked } from '../common/service-shell.js';

/** Answers `dispatch-show`: waits until the session has folded a dispatch, then shows its event. */
export function createDispatchResults({
  reader,
  log,
  waiters,
  afterTimeoutMs,
}: Pick<ToolPorts, 'reader' | 'log' | 'waiters' | 'afterTimeoutMs'>) {
  return async ({ session, dispatch, timeoutMs }: Asked<'tool.dispatch-show'>): Promise<DispatchResult> => {
    const waitMs = Math.min(afterTimeoutMs, timeoutMs ?? Number.POSITIVE_INFINITY);
    const { state } = (await caughtUp({ reader, log, waiters }, session, dispatch, waitMs)).folded;
    const { sequence } = state;
    const event = eventOf(state, dispatch);
    if (event === undefined) return { dispatch, sequence, status: 'counted' };
    const repeats = isRepetition(state, dispatch);
    const { events } = await log.read(session, { after: event - 1, through: event });
    return { dispatch, sequence, ...said(dispatch, events[0]?.event, repeats) };
  };
}

/** Returns the sequence of the event by which a dispatch counted, if the state still knows it. */
function eventOf(state: SessionState, dispatch: number): number | undefined {
  const isIt = ({ sequence }: { readonly sequence: number }) => sequence === dispatch;
  return (
    state.dispatches.recent().find(isIt)?.event ??
    rejectionsOf(state).find(isIt)?.event ??
    factsOf(state)
      .all()
      .find(({ sourceSequence }) => sourceSequence === dispatch)?.eventSequence
  );
}

/** Returns true if an earlier dispatch with the same result counted; known until the dispatch is settled. */
function isRepetition({ dispatches }: SessionState, sequence: number): boolean {
  const recorded = dispatches.recent().filter((entry) => entry.kind === 'recorded');
  const key = recorded.find((entry) => entry.sequence === sequence)?.result;
  if (key === undefined) return false;
  const isEarlier = recorded.some((entry) => entry.sequence < sequence && entry.result === key);
  return isEarlier || dispatches.settled().results.has(key);
}

type Said<Result> = Result extends DispatchResult ? Omit<Result, 'dispatch' | 'sequence'> : never;

function said(sequence: number, event: SessionEvent | undefined, repeats: boolean): Said<DispatchResult> {
  if (event?.type === 'fact.recorded' && event.data.dispatch.sequence === sequence) {
    const { dispatch, repairs } = event.data;
    const { facts_omitted: factsOmitted, repairs_omitted: repairsOmitted } = event.data;
    const { role, task } = dispatch;
    if (repeats) return { status: 'repeated', role, task };
    return {
      status: 'recorded',
      role,
      task,
      facts: factsOfEvent(event),
      ...(factsOmitted !== undefined && { factsOmitted }),
      ...(repairs !== undefined && { repairs }),
      ...(repairsOmitted !== undefined && { repairsOmitted }),
    };
  }
  if (event?.type === 'dispatch.rejected' && event.data.dispatch.sequence === sequence) {
    const { dispatch, error } = event.data;
    const { role, task } = dispatch;
    const { code, reason, fix, meant } = error;
    return {
      status: 'rejected',
      ...(role !== undefined && { role }),
      ...(task !== undefined && { task }),
      code,
      reason,
      ...(fix !== undefined && { fix }),
      ...(meant !== undefined && { meant }),
    };
  }
  // The log was replaced meanwhile.
  return { status: 'counted' };
}
