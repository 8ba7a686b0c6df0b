import { useEffect, useRef, useState } from 'preact/hooks';
import type { ReplyTo, RequestInput, RequestName } from '../contracts/requests.js';
import { AskError, ask } from './ask.js';
import { onChange, throttled, whenOpen } from './live.js';

/** State of a request that a view keeps up to date. */
export interface QueryState<Reply> {
  /** The newest reply; it stays while the request runs again. */
  readonly reply?: Reply;
  /** Error of the newest try. */
  readonly error?: AskError;
  /** True until the first reply or error. */
  readonly loading: boolean;
  readonly refresh: () => void;
}

/** Shortest time between two refreshes of a view, in milliseconds: a busy session changes a hundred times a second. */
const AGAIN_MS = 2_000;

/**
 * Sends a request to a service, and sends it again when the request changes or a live event may have changed the reply.
 *
 * @param body null to send nothing yet
 * @param live topic of `onChange` that triggers a refresh; without it the request is sent once
 */
export function useAsk<Subject extends RequestName>(
  subject: Subject,
  body: RequestInput<Subject> | null,
  live?: string,
): QueryState<ReplyTo<Subject>> {
  const key = body === null ? '' : `${subject} ${JSON.stringify(body)}`;
  const [kept, hold] = useState<
    Pick<QueryState<ReplyTo<Subject>>, 'reply' | 'error'> & { readonly key: string }
  >({ key });
  const again = useRef<() => void>(() => undefined);
  useEffect(() => {
    if (body === null) return;
    const abort = new AbortController();
    const asking = async () => {
      try {
        if (live !== undefined) await whenOpen();
        const reply = await ask(subject, body, abort.signal);
        if (!abort.signal.aborted) hold({ key, reply });
      } catch (error) {
        if (abort.signal.aborted) return;
        const fault = asAskError(error);
        const isErased = fault.code === 'session_forgotten';
        // The old reply stays: an old list with an error above it is worth more than an empty page. Not of what is erased.
        hold((old) => ({ ...(old.key === key && !isErased ? old : { key }), error: fault }));
        if (isErased) run.soon();
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
  const current = kept.key === key ? kept : { key };
  const loading = current.reply === undefined && current.error === undefined;
  return { ...current, loading, refresh: () => again.current() };
}

export function asAskError(error: unknown): AskError {
  return error instanceof AskError ? error : new AskError('unexpected', String(error));
}

/** A paged list. Only the first page follows live events; the others stay as they were loaded. */
export interface Pages<Reply> extends QueryState<Reply> {
  readonly pages: readonly Reply[];
  /** Loads the next page; undefined on the last one. */
  readonly more?: () => void;
  readonly loadingMore: boolean;
}

/** @param live see `useAsk` */
export function usePages<Subject extends RequestName>(
  subject: Subject,
  body: RequestInput<Subject> | null,
  live?: string,
): Pages<ReplyTo<Subject>> {
  const key = JSON.stringify([subject, body]);
  const first = useAsk(subject, body, live);
  const [rest, setRest] = useState<{ readonly key: string; readonly pages: readonly ReplyTo<Subject>[] }>({
    key,
    pages: [],
  });
  const [loadingMore, setLoading] = useState(false);
  const [error, setError] = useState<AskError | undefined>(undefined);
  useEffect(() => setError(undefined), [key]);
  const further = rest.key === key ? rest.pages : [];
  const pages = first.reply === undefined ? [] : [first.reply, ...further];
  const { next: cursor } = (pages.at(-1) ?? {}) as { readonly next?: string };
  const more = async (from: string) => {
    setLoading(true);
    try {
      const page = await ask(subject, { ...body, cursor: from } as RequestInput<Subject>);
      setRest((before) => ({ key, pages: [...(before.key === key ? before.pages : []), page] }));
      setError(undefined);
    } catch (fault) {
      setError(asAskError(fault));
    }
    setLoading(false);
  };
  return {
    ...first,
    ...(error !== undefined && { error }),
    pages,
    loadingMore,
    ...(cursor !== undefined && { more: () => void more(cursor) }),
  };
}
