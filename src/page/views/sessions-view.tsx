import { Empty } from '../components/empty.js';
import { PageHead } from '../components/page-head.js';
import type { GlobalViewProps } from '../route.js';

/** Sessions. */
export function SessionsView(_props: GlobalViewProps) {
  return (
    <>
      <PageHead title="Sessions" />
      <Empty title="Nothing here yet" />
    </>
  );
}
