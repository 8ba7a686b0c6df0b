import { Empty } from '../components/empty.js';
import { PageHead } from '../components/page-head.js';
import type { SessionViewProps } from '../route.js';

/** A session. */
export function SessionView({ session }: SessionViewProps) {
  return (
    <>
      <PageHead title="Overview" of={session} />
      <Empty title="Nothing here yet" />
    </>
  );
}
