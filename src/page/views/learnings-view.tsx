import { Empty } from '../components/empty.js';
import { PageHead } from '../components/page-head.js';
import type { GlobalViewProps } from '../route.js';

/** Learnings. */
export function LearningsView(_props: GlobalViewProps) {
  return (
    <>
      <PageHead title="Learnings" />
      <Empty title="Nothing here yet" />
    </>
  );
}
