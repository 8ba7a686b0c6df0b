import type { Figures } from '../../contracts/replies/session-reply.js';
import { clipText, oneLine } from '../../shared/text.js';
import { groupOf, isBare } from '../facts/fact-groups.js';
import type { SessionFact } from '../facts/fact-types.js';
import { openFindings, sessionFigures } from './run-status.js';
import { factsOf, type SessionState } from './session-state.js';

/** Limit of the view in bytes of JSON. */
export const MAX_VIEW_BYTES = 4096;
const MAX_LISTED = 10;
const MAX_TEXT = 160;

/** A session in words, for people who read its snapshot with the plain `nats` CLI. Nothing reads it back. */
export interface SessionView
  extends Pick<Figures, 'goal' | 'status' | 'results' | 'rejected' | 'facts' | 'board' | 'plan'> {
  /** Demands on a person: open questions first. */
  readonly waiting: readonly string[];
  readonly stalled: readonly string[];
  /** "src/a.ts: Leaks a handle (critical, task 1)", newest first. */
  readonly open_findings: readonly string[];
  /** "task:1 summary Parser done (task 1)", newest first. */
  readonly newest_facts: readonly string[];
}

/** Returns the view of what readers see; beyond `MAX_VIEW_BYTES` the oldest facts are left out, then findings. */
export function sessionView(state: SessionState): SessionView {
  const { goal, status, results, rejected, facts, board, plan, waiting, stalled } = sessionFigures(state);
  const valid = factsOf(state).getValid().toReversed();
  const isFinding = ({ relation }: SessionFact) => relation === 'issue' || relation === 'must_fix';
  const view = {
    ...(goal !== undefined && { goal }),
    ...{ status, results, rejected, facts, board, ...(plan && { plan }) },
    waiting: waiting.map((text) => said(text)),
    stalled: stalled.map(({ task }) => said(task)),
    open_findings: [...openFindings(state, MAX_LISTED).newest],
    newest_facts: valid
      .filter((fact) => !isFinding(fact) && !isBare(fact) && groupOf(fact) !== 'files')
      .slice(0, MAX_LISTED)
      .map(({ subject, relation, object, sourceTaskId }) =>
        said(`${subject} ${relation} ${object}`, `task ${sourceTaskId}`),
      ),
  };
  const isLarge = () => Buffer.byteLength(JSON.stringify(view)) > MAX_VIEW_BYTES;
  for (const list of [view.newest_facts, view.open_findings, view.stalled, view.waiting])
    while (list.length > 0 && isLarge()) list.pop();
  return view;
}

function said(text: string, origin?: string): string {
  const words = clipText(oneLine(text), MAX_TEXT);
  return origin === undefined ? words : `${words} (${clipText(oneLine(origin), MAX_TEXT)})`;
}
