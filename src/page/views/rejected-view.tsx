import '../styles/lists.css';
import type { RejectedShown } from '../../contracts/replies/dispatch-result.js';
import { Ago, Button, FilterField, SelectField, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { Empty, MoreButton, QueryView } from '../components/states.js';
import { positive } from '../prompt/use-prompt.js';
import { type GlobalViewProps, setParams, viewHref } from '../route.js';
import { usePages } from '../use-ask.js';
import { ROLE_NAMES } from '../words.js';
import { RejectedPanel } from './rejected-panel.js';

export function RejectedView({ params }: GlobalViewProps) {
  const session = params.get('session') || undefined;
  const role = ROLE_NAMES.find((row) => row === params.get('role'));
  const id = positive(params.get('id'));
  const listed = usePages('tool.rejected-list', { limit: 50, session, role }, 'event:rejected');
  const rejected = listed.pages.flatMap((page) => page.rejected);
  const filtered = session !== undefined || role !== undefined;
  const closePanel = () => {
    setParams({ id: undefined });
    listed.refresh();
  };
  return (
    <>
      <PageHead title="Rejected" />
      <div class={`split ${id === undefined ? '' : 'split-open'}`}>
        <div class="split-list">
          <div class="tools">
            <FilterField
              label="Session"
              value={session ?? ''}
              onFilter={(value) => setParams({ session: value })}
            />
            <SelectField<string>
              label="Role"
              value={role ?? ''}
              choices={[{ value: '', label: 'any' }, ...ROLE_NAMES.map((value) => ({ value, label: value }))]}
              onChoose={(value) => setParams({ role: value })}
            />
          </div>
          <QueryView query={listed} what="rejected results">
            {({ total }) =>
              rejected.length === 0 ? (
                filtered ? (
                  <Empty title="No rejected result fits">
                    <Button onClick={() => setParams({ session: '', role: '' })}>Show all</Button>
                  </Empty>
                ) : (
                  <Empty title="No result was rejected">
                    A result that cannot be read is kept here unchanged, with the reason and the fix.
                  </Empty>
                )
              ) : (
                <>
                  <ul class="card rows" aria-label="Rejected results">
                    {rejected.map((row) => (
                      <RejectedRow key={row.id} rejected={row} params={params} current={row.id === id} />
                    ))}
                  </ul>
                  <MoreButton pages={listed} shown={rejected.length} total={filtered ? undefined : total} />
                </>
              )
            }
          </QueryView>
        </div>
        <div class="split-detail">
          {id === undefined ? (
            rejected.length === 0 ? null : (
              <p class="card card-body quiet">Choose a result to see its body and the fix.</p>
            )
          ) : (
            <RejectedPanel key={id} id={id} onGone={closePanel} />
          )}
        </div>
      </div>
    </>
  );
}

function RejectedRow(props: {
  readonly rejected: RejectedShown;
  readonly params: URLSearchParams;
  readonly current: boolean;
}) {
  const { rejected } = props;
  return (
    <li>
      <a
        data-row
        class="pick rejected-row"
        href={viewHref('rejected', { ...Object.fromEntries(props.params), id: rejected.id })}
        aria-current={props.current ? 'true' : undefined}
      >
        <span>{rejected.reason}</span>
        <span class="remarks quiet small">
          <Tag tone="bad">{rejected.code}</Tag>
          <span>{rejected.session ?? 'no session'}</span>
          <span>{rejected.role ?? rejected.subject}</span>
          <span class="figure">result {rejected.sequence}</span>
          <Ago at={rejected.at} />
        </span>
      </a>
    </li>
  );
}
