import { Empty } from '../components/empty.js';
import { PageHead } from '../components/page-head.js';
import type { GlobalViewProps } from '../route.js';

/** Health. */
export function HealthView(_props: GlobalViewProps) {
  return (
    <>
      <PageHead title="Health" />
      <Empty title="Nothing here yet" />
    </>
  );
}
