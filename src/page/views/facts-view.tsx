import { Empty } from '../components/empty.js';
import { PageHead } from '../components/page-head.js';
import type { SessionViewProps } from '../route.js';

/** Facts of a session. */
export function FactsView({ session }: SessionViewProps) {
  return (
    <>
      <PageHead title="Facts" of={session} />
      <Empty title="Nothing here yet" />
    </>
  );
}
