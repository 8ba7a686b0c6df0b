import { Empty } from '../components/empty.js';
import { PageHead } from '../components/page-head.js';
import type { GlobalViewProps } from '../route.js';

/** Rejected. */
export function RejectedView(_props: GlobalViewProps) {
  return (
    <>
      <PageHead title="Rejected" />
      <Empty title="Nothing here yet" />
    </>
  );
}
