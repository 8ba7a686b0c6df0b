import '../styles/review.css';
import { FilterField, Toggle } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { ActiveLearnings } from '../review/active-learnings.js';
import { ReviewQueue } from '../review/review-queue.js';
import { type GlobalViewProps, setParams } from '../route.js';

export function LearningsView({ params }: GlobalViewProps) {
  const active = params.get('tab') === 'active';
  const project = params.get('project') || undefined;
  return (
    <>
      <PageHead title="Learnings" of={project}>
        <div class="chips">
          <Toggle on={!active} onToggle={() => setParams({ tab: undefined, text: undefined })}>
            To review
          </Toggle>
          <Toggle on={active} onToggle={() => setParams({ tab: 'active' })}>
            Active
          </Toggle>
        </div>
      </PageHead>
      <div class="tools">
        <FilterField
          label="Project"
          value={project ?? ''}
          placeholder="sessions without one"
          onFilter={(value) => setParams({ project: value })}
        />
        {active ? (
          <FilterField
            label="Relevant to"
            value={params.get('text') ?? ''}
            placeholder="handle errors in the parser"
            onFilter={(value) => setParams({ text: value })}
          />
        ) : null}
      </div>
      {active ? (
        <ActiveLearnings
          project={project}
          text={params.get('text') ?? ''}
          id={params.get('id') ?? undefined}
        />
      ) : (
        <ReviewQueue key={project ?? ''} project={project} />
      )}
    </>
  );
}
