import { Empty } from '../components/empty.js';
import { PageHead } from '../components/page-head.js';
import type { SessionViewProps } from '../route.js';

/** Two prompts side by side. */
export function DiffView({ session }: SessionViewProps) {
  return (
    <>
      <PageHead title="Prompt diff" of={session} />
      <Empty title="Nothing here yet" />
    </>
  );
}
