import { useEffect, useState } from 'preact/hooks';
import type { ReplySubject, ReplyTo } from '../contracts/replies/replies.js';
import { type AskBody, type AskError, ask } from './ask.js';
import { type AskedReply, asAskError, useAsk } from './use-ask.js';

/** A paged list. Only the first page follows live events; the others stay as they were loaded. */
export interface Pages<Reply> extends AskedReply<Reply> {
  readonly pages: readonly Reply[];
  /** Loads the next page; undefined on the last one. */
  readonly more?: () => void;
  readonly loadingMore: boolean;
}

/** @param live see `useAsk` */
export function usePages<Subject extends ReplySubject>(
  subject: Subject,
  body: AskBody<Subject> | null,
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
  const own = rest.key === key ? rest.pages : [];
  const pages = first.reply === undefined ? [] : [first.reply, ...own];
  const cursor = nextOf(pages.at(-1));
  const more = async (from: string) => {
    setLoading(true);
    try {
      const page = await ask(subject, { ...body, cursor: from } as AskBody<Subject>);
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

function nextOf(page: unknown): string | undefined {
  const next = typeof page === 'object' && page !== null ? Reflect.get(page, 'next') : undefined;
  return typeof next === 'string' ? next : undefined;
}
