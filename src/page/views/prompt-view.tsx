import { Empty } from '../components/empty.js';
import { PageHead } from '../components/page-head.js';
import type { SessionViewProps } from '../route.js';

/** The compiled prompt of a task. */
export function PromptView({ session }: SessionViewProps) {
  return (
    <>
      <PageHead title="Prompt" of={session} />
      <Empty title="Nothing here yet" />
    </>
  );
}
