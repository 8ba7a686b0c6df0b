import { useEffect, useState } from 'preact/hooks';

/** What is being typed, until it counts: it stays through other changes of the page, and follows the value itself. */
export function useDraft(value: string): readonly [draft: string, setDraft: (draft: string) => void] {
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  return [draft, setDraft];
}
