import { z } from 'zod';
import { storedJson } from '../../contracts/checked.js';
import { messageOf } from '../../contracts/errors.js';
import type { Figures } from '../../contracts/replies/session-reply.js';
import { clipText, oneLine } from '../../shared/text.js';
import { groupOf, isBare, type SessionFact } from '../facts/fact-types.js';
import { openFindings, sessionFigures } from './run-status.js';
import { factsOf, type SessionState } from './session-state.js';
import { stateFromJson, stateJson, stateToJson } from './session-state-json.js';

/**
 * The format of a snapshot:
 * `{"after_sequence":N,"created_at":…,"session":…,"view":{…},"v":1,"last_event"?:M,"last_command"?:L,"checkpoint"?:C,"state":{…}}`
 * on one line, in that order; `last_event` is present if it is below N, `last_command` if it is another one. `view` is for
 * people, and ignored when the snapshot is read.
 */
export const SNAPSHOT_VERSION = 1;

export const sessionSnapshot = z.object({
  after_sequence: z.int().nonnegative(),
  created_at: z.string(),
  session: z.string(),
  v: z.literal(SNAPSHOT_VERSION),
  last_event: z.int().nonnegative().exactOptional(),
  last_command: z.int().nonnegative().exactOptional(),
  checkpoint: z.int().positive().exactOptional(),
  state: stateJson,
});

export function encodeSnapshot(state: SessionState, createdAt: string): string {
  return JSON.stringify({
    after_sequence: state.sequence,
    created_at: createdAt,
    session: state.session,
    view: sessionView(state),
    v: SNAPSHOT_VERSION,
    ...(state.lastEvent < state.sequence && { last_event: state.lastEvent }),
    ...(state.lastCommand !== state.lastEvent && { last_command: state.lastCommand }),
    ...(state.checkpoint > 0 && { checkpoint: state.checkpoint }),
    state: stateToJson(state),
  });
}

type DecodedSnapshot =
  | { readonly ok: true; readonly state: SessionState; readonly createdAt: string }
  | { readonly ok: false; readonly reason: string };

/** Returns the reason for a damaged snapshot or another version. */
export function decodeSnapshot(session: string, text: string): DecodedSnapshot {
  const stored = storedJson(sessionSnapshot, text);
  if (!stored.ok) return stored;
  const { after_sequence: sequence, created_at: createdAt, state, session: owner } = stored.value;
  if (owner !== session) return { ok: false, reason: `it belongs to session ${owner}` };
  const {
    last_event: lastEvent = sequence,
    last_command: lastCommand = lastEvent,
    checkpoint = 0,
  } = stored.value;
  try {
    const at = { sequence, lastEvent, lastCommand, checkpoint };
    return { ok: true, state: stateFromJson(session, at, state), createdAt };
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
}

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
