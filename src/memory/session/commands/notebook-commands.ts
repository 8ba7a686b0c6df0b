import type { ToolArguments } from '../../../contracts/tool-requests.js';
import { unread } from '../notebook.js';
import type { SessionState } from '../session-state.js';
import { resolveId } from './resolve-id.js';
import {
  answer,
  append,
  type Decision,
  full,
  fullText,
  MOST,
  type Reply,
  refuse,
  stillThere,
  workedIn,
} from './session-decision.js';

const GO_ON = 'go on in a new session';
const FEWER_NOTES = 'delete outdated ones with note-delete';

export function addNote(state: SessionState, { content, type }: ToolArguments<'note-add'>): Decision {
  const { notes } = state.notebook;
  const refusal =
    full('notes', notes.size, MOST.notes, FEWER_NOTES) ??
    fullText('notes', notes.values(), content, FEWER_NOTES);
  if (refusal !== undefined) return refusal;
  const id = `NOT-${state.notebook.lastNote + 1}`;
  const data = { note: id, content, type, ...workedIn(state) };
  return append({ type: 'note.added', data }, showingNote(id));
}

export function editNote(state: SessionState, { id, content, type }: ToolArguments<'note-edit'>): Decision {
  if (content === undefined && type === undefined)
    return refuse('schema_invalid', 'content: give content, type or both', { fields: ['content'] });
  const resolved = resolveId(state.notebook.notes, id, 'note', 'NOT');
  if ('refusal' in resolved) return resolved.refusal;
  const note = resolved.found.id;
  const others = [...state.notebook.notes.values()].filter(({ id }) => id !== note);
  const refusal = content === undefined ? undefined : fullText('notes', others, content, FEWER_NOTES);
  if (refusal !== undefined) return refusal;
  const data = { note, ...(content !== undefined && { content }), ...(type !== undefined && { type }) };
  return append({ type: 'note.edited', data }, showingNote(note));
}

export function deleteNote(state: SessionState, { id }: ToolArguments<'note-delete'>): Decision {
  const resolved = resolveId(state.notebook.notes, id, 'note', 'NOT');
  if ('refusal' in resolved) return resolved.refusal;
  const note = resolved.found.id;
  return append({ type: 'note.deleted', data: { note } }, () => ({ note: null, deleted: note }));
}

export function listNotes(_state: SessionState, { type }: ToolArguments<'note-list'>): Decision {
  return answer(({ notebook }) => ({
    notes: [...notebook.notes.values()].filter((note) => type === undefined || note.type === type),
  }));
}

export function addMessage(state: SessionState, { content }: ToolArguments<'inbox-add'>): Decision {
  const { inbox } = state.notebook;
  const refusal =
    full(
      'unread messages',
      unread(state.notebook).length,
      MOST.unread,
      'mark some as read with inbox-mark-read',
    ) ??
    full('messages', inbox.size, MOST.messages, GO_ON) ??
    fullText('messages', inbox.values(), content, GO_ON);
  if (refusal !== undefined) return refusal;
  const id = `MSG-${state.notebook.lastMessage + 1}`;
  return append({ type: 'inbox.added', data: { message: id, content } }, showingMessage(id));
}

export function markRead(state: SessionState, { id }: ToolArguments<'inbox-mark-read'>): Decision {
  const resolved = resolveId(state.notebook.inbox, id, 'message', 'MSG');
  if ('refusal' in resolved) return resolved.refusal;
  const message = resolved.found;
  // A retrying agent marks it twice: no event, the same answer.
  if (message.read) return answer(showingMessage(message.id));
  return append({ type: 'inbox.read', data: { message: message.id } }, showingMessage(message.id));
}

export function listMessages(_state: SessionState, { all }: ToolArguments<'inbox-list'>): Decision {
  return answer(({ notebook }) => ({ messages: all ? [...notebook.inbox.values()] : unread(notebook) }));
}

function showingNote(id: string): Reply {
  return ({ notebook }) => ({ note: stillThere(notebook.notes.get(id), id) });
}

function showingMessage(id: string): Reply {
  return ({ notebook }) => ({ message: stillThere(notebook.inbox.get(id), id) });
}
