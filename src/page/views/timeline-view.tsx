import { Empty } from '../components/empty.js';
import { PageHead } from '../components/page-head.js';
import type { SessionViewProps } from '../route.js';

/** What happened in a session. */
export function TimelineView({ session }: SessionViewProps) {
  return (
    <>
      <PageHead title="Timeline" of={session} />
      <Empty title="Nothing here yet" />
    </>
  );
}
