import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyTo } from '../../contracts/requests.js';
import { AskError, ask } from '../ask.js';
import { Actions, actor, mayAct } from '../components/act.js';
import { Ago, SelectField, Tag, Toggle } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { Empty, ErrorBox, MoreButton, QueryView } from '../components/states.js';
import { type GlobalViewProps, sessionHref, setParams } from '../route.js';
import { useDrafts } from '../session/needs-list.js';
import { useAsk, usePages } from '../use-ask.js';
import { COMMANDS, counted } from '../words.js';

type Learning = ReplyTo<'learning.list'>['learnings'][number];
type Proposal = ReplyTo<'proposal.list'>['proposals'][number];

export function LearningsView({ params }: GlobalViewProps) {
  const active = params.get('tab') === 'active';
  const query = useAsk('proposal.list', { limit: 1, projects: true }, 'event:learning');
  const counts = query.reply?.projects ?? [];
  // The project with most to decide comes first.
  const project = params.get('project') || counts[0]?.project;
  const known = [
    ...new Set([...counts.map((row) => row.project), ...(project === undefined ? [] : [project])]),
  ];
  const id = params.get('id') ?? undefined;
  return (
    <>
      <PageHead title="Learnings" of={project}>
        <div class="chips">
          <Toggle on={!active} onToggle={() => setParams({ tab: undefined })}>
            To review
          </Toggle>
          <Toggle on={active} onToggle={() => setParams({ tab: 'active' })}>
            Active
          </Toggle>
        </div>
      </PageHead>
      {known.length === 0 ? null : (
        <div class="tools">
          <SelectField
            label="Project"
            value={project ?? ''}
            choices={known.map((value) => {
              const { pending = 0, active: accepted = 0 } = counts.find((row) => row.project === value) ?? {};
              return { value, label: `${value} (${pending} to review, ${accepted} active)` };
            })}
            onChoose={(value) => setParams({ project: value })}
          />
        </div>
      )}
      {query.loading ? null : !active ? (
        <Proposals key={project ?? ''} project={project} />
      ) : (
        <Learnings project={project} id={id} />
      )}
    </>
  );
}

/** The pending proposals, each with the buttons that decide on it. */
function Proposals({ project }: { readonly project: string | undefined }) {
  const listed = usePages('proposal.list', { project, status: 'pending', limit: 100 }, 'event:learning');
  const { shown, settled, keep } = useDrafts(
    listed.pages.flatMap((page) => page.proposals),
    ({ id }) => id,
  );
  return (
    <QueryView query={listed} what="proposals">
      {({ total, rulesPaused }) =>
        shown.length === 0 ? (
          <Empty title="Nothing to review" command={COMMANDS.propose(project)}>
            <p>Proposals come from notes, from fixes that reviews require repeatedly, and from people.</p>
          </Empty>
        ) : (
          <>
            {rulesPaused === true ? (
              <p class="block-end">
                <Tag tone="warn">paused</Tag> Too many proposals are pending: rules propose nothing new until
                you decide on some.
              </p>
            ) : null}
            <ul class="card rows" aria-label="Proposals">
              {shown.map((proposal) => (
                <ProposalRow
                  key={proposal.id}
                  project={project}
                  proposal={proposal}
                  onDecided={() => {
                    keep(proposal, true);
                    listed.refresh();
                  }}
                />
              ))}
            </ul>
            <MoreButton pages={listed} shown={shown.length - settled} total={total} />
          </>
        )
      }
    </QueryView>
  );
}

/** The text of a learning or proposal, and what is known of it. */
function Says(props: { readonly of: Learning | Proposal; readonly children: ComponentChildren }) {
  const { content, type, tags, id } = props.of;
  return (
    <>
      <p>{content}</p>
      <p class="remarks quiet small">
        <Tag tone="info">{type.replace('_', ' ')}</Tag>
        {tags.map((tag) => (
          <Tag key={tag}>{tag}</Tag>
        ))}
        <code>{id}</code>
        {props.children}
      </p>
    </>
  );
}

/** Origin of a proposal in words. */
const METHODS: Readonly<Record<Proposal['method'], string>> = {
  note: 'a note of an agent',
  recurring_fix: 'a fix that reviews required repeatedly',
  recurring_issue: 'an issue that reviews raised repeatedly',
  convention: 'a convention that reviewers stated',
  manual: 'a person or an agent',
};

function ProposalRow(props: {
  readonly project: string | undefined;
  readonly proposal: Proposal;
  readonly onDecided: () => void;
}) {
  const { project, proposal, onDecided } = props;
  const { id, content, type, tags, source } = proposal;
  const [decided, setDecided] = useState<'Accepted' | 'Merged' | 'Rejected'>();
  const [near, setNear] = useState<AskError>();
  const of = { project, id, by: actor() };
  const settles = (verb: string, as: typeof decided, decision: () => Promise<unknown>) => ({
    verb,
    run: async () => {
      await decision();
      setNear(undefined);
      setDecided(as);
      onDecided();
    },
  });
  const accept = settles('Accept', 'Accepted', () => ask('proposal.accept', of));
  const acceptOrAsk = () =>
    accept.run().catch((error: unknown) => {
      if (!(error instanceof AskError && error.code === 'near_duplicate')) throw error;
      setNear(error);
    });
  const takeBack = async () => {
    if (decided === 'Accepted') await ask('learning.retract', of);
    await ask('learning.propose', { project, content, type, tags: [...tags], source });
  };
  const accepting =
    near === undefined
      ? [{ ...accept, tone: 'main' as const, run: acceptOrAsk }]
      : [
          settles('Merge', 'Merged', () => ask('proposal.accept', { ...of, merge: true })),
          settles('Keep both', 'Accepted', () => ask('proposal.accept', { ...of, separate: true })),
        ];
  const actions =
    decided === undefined
      ? [...accepting, settles('Reject', 'Rejected', () => ask('proposal.reject', of))]
      : [settles('Take it back', undefined, takeBack)];
  const newest = proposal.evidence.at(-1);
  return (
    <li class="learning">
      <Says of={proposal}>
        <span>
          from {METHODS[proposal.method]}, <Ago at={proposal.extractedAt} />
        </span>
        {newest === undefined ? null : (
          <a href={sessionHref(newest.session, 'timeline', { task: newest.task })}>
            {counted(proposal.evidence.length, 'result')}, newest in {newest.session}
          </a>
        )}
        {proposal.confidence === undefined ? null : (
          <span class="figure">confidence {proposal.confidence.toFixed(2)}</span>
        )}
      </Says>
      {near === undefined ? null : <ErrorBox error={near} />}
      {mayAct() ? (
        <div class="actions" role="status">
          {decided && `${decided}.`}
          <Actions of={content} actions={actions} />
        </div>
      ) : null}
    </li>
  );
}

function Learnings(props: { readonly project: string | undefined; readonly id: string | undefined }) {
  const listed = usePages('learning.list', { project: props.project, limit: 100 }, 'event:learning');
  const learnings = listed.pages.flatMap((page) => page.learnings);
  return (
    <QueryView query={listed} what="learnings">
      {({ total }) =>
        learnings.length === 0 ? (
          <Empty title="No learnings yet" command={COMMANDS.propose(props.project)}>
            <p>An accepted proposal reaches the prompts of all later sessions of the project.</p>
          </Empty>
        ) : (
          <>
            <ul class="card rows" aria-label="Learnings">
              {learnings.map((learning) => (
                <li
                  key={learning.id}
                  class={`learning ${learning.id === props.id ? 'learning-current' : ''}`}
                >
                  <Says of={learning}>
                    <span class="figure">supported by {counted(learning.evidence.length, 'result')}</span>
                    <span>
                      since <Ago at={learning.confirmedAt} />
                    </span>
                  </Says>
                </li>
              ))}
            </ul>
            <MoreButton pages={listed} shown={learnings.length} total={total} />
          </>
        )
      }
    </QueryView>
  );
}
