import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** What was opened is seen from its beginning: beside the list, or below it where the screen is narrow. */
export function useOpened(opened: string | undefined): RefObject<HTMLElement | null> {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    if (opened === undefined || panel.current === null) return;
    if (matchMedia('(max-width: 980px)').matches) panel.current.scrollIntoView({ block: 'start' });
    else panel.current.closest('.split-detail')?.scrollTo(0, 0);
  }, [opened]);
  return panel;
}
