import { type Role, rolesOf } from '../../contracts/kinds.js';
import { RELATIONS } from '../../contracts/relations.js';
import type { EventOf } from '../../contracts/session-events.js';
import type { NoteType } from '../../contracts/session-meta-events.js';
import { defined } from '../../shared/collections.js';
import { sessionFact } from '../facts/fact-extractor.js';
import { type Note, type RecordedFact, recordedFact, type SessionFactTag } from '../facts/fact-types.js';
import { openForWrite } from './iterations.js';
import { factsOf, type InboxMessage, type Notebook, type SessionState } from './session-state.js';
import { numberOf, unblock } from './task-board.js';

type NotebookEvent = EventOf<
  'note.added' | 'note.edited' | 'note.deleted' | 'inbox.added' | 'inbox.read' | 'question.answered'
>;

export function unread(notebook: Notebook): InboxMessage[] {
  return [...notebook.inbox.values()].filter((message) => !message.read);
}

export function isForPerson({ content }: Pick<InboxMessage, 'content'>): boolean {
  return /^\s*@human\b/i.test(content);
}

export function notesOf(state: SessionState): Map<string, Note> {
  const notes = factsOf(state).statements();
  return new Map(notes.flatMap(({ note }) => (note === undefined ? [] : [[note.id, note] as const])));
}

export function evolveNotebook(state: SessionState, event: NotebookEvent, sequence: number): void {
  const { at } = event;
  const { notebook } = state;
  // The statement of a command counts directly after the newest dispatch.
  const newest = { sequence: state.dispatches.newest(), at, role: NOTE_ROLE };
  const stated = (id: string, type: NoteType, text: string) => {
    const number = Number(id.replace(/^\D+/, ''));
    // Its number is taken from now on.
    notebook.lastNote = Math.max(notebook.lastNote, number);
    const ref = `N${number}`;
    return sessionFact(statementOf(ref, type, text), { ...newest, taskId: ref }, sequence);
  };
  switch (event.type) {
    case 'note.added': {
      const { note: id, content, type, iteration, by, ends, scope } = event.data;
      openForWrite(state.history, iteration, at);
      const note = { id, content, type, created_at: at, updated_at: at, iteration };
      const fact = {
        ...stated(id, type, content),
        ...(by !== undefined && { origin: 'person' as const, by }),
        note,
        ...(ends !== undefined && { ends }),
        ...(scope !== undefined && { scope }),
      };
      state.dispatches.change(({ facts }) => {
        facts.say(fact);
        facts.evict(state.limits.maxFacts, newest);
      });
      return;
    }
    case 'note.edited': {
      const { note: id, content, type } = event.data;
      state.dispatches.change(({ facts }) => {
        const before = facts.statements().find(({ note }) => note?.id === id);
        if (before?.note === undefined) return;
        const note = {
          ...before.note,
          content: content ?? before.note.content,
          type: type ?? before.note.type,
          updated_at: at,
        };
        const { id: hash, relation, object, tags } = stated(id, note.type, note.content);
        facts.say({ ...before, id: hash, relation, object, tags, note });
      });
      return;
    }
    case 'note.deleted':
      state.dispatches.change(({ facts }) => {
        const { note: id, by = 'a person or an agent', person } = event.data;
        facts.unsay(({ note }) => note?.id === id, { ...newest, ended: { by, how: 'removed' } }, person);
      });
      return;
    case 'question.answered': {
      const { ref, task, questions, answer, by, agent, unblocks } = event.data;
      if (unblocks) unblock(state.board, task, at);
      const fact = stated(ref, 'decision', `${questions.join(' ')} ${answer}`);
      state.dispatches.change(({ facts }) => {
        for (const { ref: before = '', answer: given } of facts.statements())
          if (given?.task === task && given.questions.every((question) => questions.includes(question)))
            facts.end(before, { sequence: fact.sourceSequence, at, ended: { by: ref, how: 'replaced' } });
        const given = { task, questions, answer, by, ...(agent && { agent }), at };
        facts.say({ ...fact, ...(agent === undefined && { origin: 'person' as const }), answer: given });
        facts.evict(state.limits.maxFacts, newest);
      });
      return;
    }
    case 'inbox.added': {
      const { message: id, content, by } = event.data;
      notebook.inbox.set(id, { id, content, ...defined({ by }), created_at: at, read: false });
      notebook.lastMessage = Math.max(notebook.lastMessage, numberOf(id));
      return;
    }
    case 'inbox.read': {
      const message = notebook.inbox.get(event.data.message);
      if (message !== undefined) notebook.inbox.set(message.id, { ...message, read: !event.data.unread });
      return;
    }
  }
}

const RELATION: { readonly [Type in NoteType]: string } = {
  decision: RELATIONS.decided,
  rule: RELATIONS.rule,
  learning: RELATIONS.found,
  stuck: RELATIONS.failed,
  tip: RELATIONS.noted,
};
/** Notes have no verdict, so they count as this kind of result. */
const NOTE_ROLE = rolesOf('note')[0] as Role;
const TAGS: { readonly [Type in NoteType]?: readonly SessionFactTag[] } = {
  decision: ['decision'],
  rule: ['convention'],
  stuck: ['error'],
};

/** Returns what a note or an answer states. It closes nothing by its subject. */
export function statementOf(ref: string, type: NoteType, text: string): RecordedFact {
  const [subject, relation, tags] = [`task:${ref}`, RELATION[type], TAGS[type] ?? []];
  return {
    ...(recordedFact(subject, relation, text, tags) ?? { subject, relation, object: text, tags }),
    ref,
  };
}
