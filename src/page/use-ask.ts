import { useEffect, useRef, useState } from 'preact/hooks';
import type { ReplySubject, ReplyTo } from '../contracts/replies/replies.js';
import { type AskBody, AskError, ask } from './ask.js';
import { onChange, throttled } from './live.js';

/** What a view has of a request that it keeps up to date. */
export interface AskedReply<Reply> {
  /** The newest reply to this request; the old one stays while it is asked again. */
  readonly reply?: Reply;
  /** Why the newest try failed. */
  readonly error?: AskError;
  /** Whether there is nothing to show yet. */
  readonly loading: boolean;
  /** Asks again now. */
  readonly refresh: () => void;
}

/**
 * Least time between two times that a view asks again because something has changed, in milliseconds: a busy session
 * changes a hundred times a second, and many may look at it.
 */
const AGAIN_MS = 1_000;

interface Held<Reply> {
  readonly key: string;
  readonly reply?: Reply;
  readonly error?: AskError;
}

/**
 * Asks a service, and again whenever the request is another one, or what it is about changes.
 *
 * @param body null: nothing is asked yet
 * @param live a session whose changes make it ask again; `*` for all sessions; left out: it asks once
 */
export function useAsk<Subject extends ReplySubject>(
  subject: Subject,
  body: AskBody<Subject> | null,
  live?: string,
): AskedReply<ReplyTo<Subject>> {
  const key = body === null ? '' : `${subject} ${JSON.stringify(body)}`;
  const [held, hold] = useState<Held<ReplyTo<Subject>>>({ key });
  const again = useRef<() => void>(() => undefined);
  useEffect(() => {
    if (body === null) return;
    const abort = new AbortController();
    const asking = async () => {
      try {
        const reply = await ask(subject, body, abort.signal);
        if (!abort.signal.aborted) hold({ key, reply });
      } catch (error) {
        if (abort.signal.aborted) return;
        // What was shown stays: an old list with a banner is worth more than an empty page.
        hold((old) => ({ ...(old.key === key ? old : { key }), error: asAskError(error) }));
      }
    };
    const run = throttled(asking, AGAIN_MS);
    again.current = run.now;
    run.now();
    const off = live === undefined ? undefined : onChange(live, run.soon);
    return () => {
      off?.();
      run.stop();
      abort.abort();
    };
  }, [key, live]);
  const own = held.key === key ? held : { key };
  return {
    ...own,
    loading: own.reply === undefined && own.error === undefined,
    refresh: () => again.current(),
  };
}

export function asAskError(error: unknown): AskError {
  return error instanceof AskError ? error : new AskError('unexpected', String(error));
}
