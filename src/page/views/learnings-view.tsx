import '../styles/facts.css';
import '../styles/review.css';
import { FilterField, SelectField, Toggle } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { ActiveLearnings } from '../review/active-learnings.js';
import { ReviewQueue } from '../review/review-queue.js';
import { type GlobalViewProps, setParams } from '../route.js';
import { useAsk } from '../use-ask.js';

export function LearningsView({ params }: GlobalViewProps) {
  const active = params.get('tab') === 'active';
  const asked = useAsk('proposal.list', { limit: 1, projects: true }, 'event:learning');
  const counts = asked.reply?.projects ?? [];
  // The project with most to decide comes first.
  const project = params.get('project') || counts[0]?.project;
  const known = [
    ...new Set([...counts.map((each) => each.project), ...(project === undefined ? [] : [project])]),
  ];
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
        <SelectField
          label="Project"
          value={project ?? ''}
          choices={known.map((value) => {
            const { pending = 0, active: accepted = 0 } = counts.find((each) => each.project === value) ?? {};
            return { value, label: `${value} (${pending} to review, ${accepted} active)` };
          })}
          onChoose={(value) => setParams({ project: value })}
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
      {asked.loading ? null : active ? (
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
