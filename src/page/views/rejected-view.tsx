import '../styles/review.css';
import '../styles/facts.css';
import { useEffect, useRef } from 'preact/hooks';
import type { RejectedShown } from '../../contracts/replies/rejected-reply.js';
import { Ago, FilterField, SelectField, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { AskedView, Empty, MoreButton } from '../components/states.js';
import { onLive } from '../live.js';
import { positive } from '../prompt/use-prompt.js';
import { RejectedPanel } from '../review/rejected-panel.js';
import { type GlobalViewProps, setParams, viewHref } from '../route.js';
import { usePages } from '../use-pages.js';
import { ROLE_NAMES } from '../words.js';

/** Results that could not be used: why, what would fix them, and a way to send them again. */
export function RejectedView({ params }: GlobalViewProps) {
  const session = params.get('session') || undefined;
  const role = ROLE_NAMES.find((each) => each === params.get('role'));
  const id = positive(params.get('id'));
  const listed = usePages('tool.rejected-list', {
    limit: 50,
    ...(session !== undefined && { session }),
    ...(role !== undefined && { role }),
  });
  const again = useRef(listed.refresh);
  again.current = listed.refresh;
  useEffect(
    () =>
      onLive(({ event }) => void (event === 'rejected' || event === 'lost' ? again.current() : undefined)),
    [],
  );
  const rejected = listed.pages.flatMap((page) => page.rejected);
  const filtered = session !== undefined || role !== undefined;
  const gone = () => {
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
          <AskedView asked={listed} what="rejected results">
            {({ total }) =>
              rejected.length === 0 ? (
                filtered ? (
                  <Empty title="None of them fits">
                    <button type="button" class="button" onClick={() => setParams({ session: '', role: '' })}>
                      Show all
                    </button>
                  </Empty>
                ) : (
                  <Empty title="No result was rejected">
                    Results that cannot be read or used are kept here, whole, with the reason and what would
                    fix them.
                  </Empty>
                )
              ) : (
                <>
                  <ul class="card rejected-list" aria-label="Rejected results">
                    {rejected.map((each) => (
                      <RejectedRow key={each.id} rejected={each} params={params} current={each.id === id} />
                    ))}
                  </ul>
                  <MoreButton pages={listed} shown={rejected.length} total={filtered ? undefined : total} />
                </>
              )
            }
          </AskedView>
        </div>
        <div class="split-detail">
          {id === undefined ? (
            rejected.length === 0 ? null : (
              <p class="card hint quiet">Choose a result to see its body and what would fix it.</p>
            )
          ) : (
            <RejectedPanel key={id} id={id} onGone={gone} />
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
        class="rejected-row"
        href={viewHref('rejected', { ...Object.fromEntries(props.params), id: rejected.id })}
        aria-current={props.current ? 'true' : undefined}
      >
        <span class="rejected-reason">{rejected.reason}</span>
        <span class="fact-about quiet">
          <Tag tone="bad">{rejected.code}</Tag>
          <span>{rejected.session ?? 'no session'}</span>
          <span>{rejected.role ?? rejected.subject}</span>
          <span class="figure">dispatch {rejected.sequence}</span>
          <Ago at={rejected.at} />
        </span>
      </a>
    </li>
  );
}
