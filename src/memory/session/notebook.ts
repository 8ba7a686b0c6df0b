import type { answerView, inboxMessage, note } from '../../contracts/replies/session-reply.js';
import type { Output } from '../../contracts/schema-fields.js';
import type { EventOf } from '../../contracts/session-events.js';
import { numberOf } from './task-board.js';

/** A note for later agents. */
export type Note = Output<typeof note>;

/** A message for the next agent. */
export type InboxMessage = Output<typeof inboxMessage>;

/** An answer to a question of an agent. */
export type Answer = Output<typeof answerView>;

/** Notes, inbox and answers of a session, in order of arrival. */
export interface Notebook {
  readonly notes: Map<string, Note>;
  lastNote: number;
  readonly inbox: Map<string, InboxMessage>;
  lastMessage: number;
  readonly answers: Answer[];
}

type NotebookEvent = EventOf<
  'note.added' | 'note.edited' | 'note.deleted' | 'inbox.added' | 'inbox.read' | 'question.answered'
>;

export function emptyNotebook(): Notebook {
  return { notes: new Map(), lastNote: 0, inbox: new Map(), lastMessage: 0, answers: [] };
}

export function unread(notebook: Notebook): InboxMessage[] {
  return [...notebook.inbox.values()].filter((message) => !message.read);
}

/** True if a message is for a person: it begins with `@human`. */
export function isForPerson({ content }: Pick<InboxMessage, 'content'>): boolean {
  return /^\s*@human\b/i.test(content);
}

export function evolveNotebook(notebook: Notebook, event: NotebookEvent): void {
  const { at } = event;
  switch (event.type) {
    case 'note.added': {
      const { note: id, content, type, iteration } = event.data;
      notebook.notes.set(id, { id, content, type, created_at: at, updated_at: at, iteration });
      notebook.lastNote = Math.max(notebook.lastNote, numberOf(id));
      return;
    }
    case 'note.edited': {
      const { note: id, content, type } = event.data;
      const note = notebook.notes.get(id);
      if (note === undefined) return;
      notebook.notes.set(id, {
        ...note,
        content: content ?? note.content,
        type: type ?? note.type,
        updated_at: at,
      });
      return;
    }
    case 'note.deleted':
      notebook.notes.delete(event.data.note);
      return;
    case 'inbox.added': {
      const { message: id, content } = event.data;
      notebook.inbox.set(id, { id, content, created_at: at, read: false });
      notebook.lastMessage = Math.max(notebook.lastMessage, numberOf(id));
      return;
    }
    case 'question.answered': {
      const { task, questions, answer, by } = event.data;
      notebook.answers.push({ task, questions, answer, by, at });
      return;
    }
    case 'inbox.read': {
      const message = notebook.inbox.get(event.data.message);
      if (message !== undefined) notebook.inbox.set(message.id, { ...message, read: true });
      return;
    }
  }
}
