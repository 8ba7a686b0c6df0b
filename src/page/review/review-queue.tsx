import { useEffect, useRef, useState } from 'preact/hooks';
import type { ProposalView } from '../../contracts/replies/learning-reply.js';
import { ask } from '../ask.js';
import { Tag } from '../components/fields.js';
import { AskedView, Empty, MoreButton } from '../components/states.js';
import { type KeyBinding, useKeys } from '../keys.js';
import { onLive } from '../live.js';
import { me } from '../theme.js';
import { asAskError } from '../use-ask.js';
import { usePages } from '../use-pages.js';
import {
  acceptVerdict,
  decideOn,
  failed,
  type PendingProposal,
  type ProposalVerdict,
  sent,
  takeBack,
  waiting,
} from './decisions.js';
import { ProposalCard } from './proposal-card.js';

/** The proposals that wait, one of them open: j and k move, one key decides, u takes it back. */
export function ReviewQueue({ project }: { readonly project: string | undefined }) {
  const of = project === undefined ? {} : { project };
  const listed = usePages('proposal.list', { ...of, status: 'pending', limit: 100 });
  const { refresh } = listed;
  const again = useRef(refresh);
  again.current = refresh;
  useEffect(
    () =>
      onLive(({ event }) => void (event === 'learning' || event === 'lost' ? again.current() : undefined)),
    [],
  );
  const decided = new Set([...sent.value, ...waiting.value.map(({ id }) => id)]);
  const open = listed.pages.flatMap(({ proposals }) => proposals).filter(({ id }) => !decided.has(id));
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const [editing, setEditing] = useState(false);
  const found = open.findIndex(({ id }) => id === chosen);
  const place = useRef(0);
  // Where the chosen one was decided on, the next takes its place.
  const at = found === -1 ? Math.min(place.current, Math.max(0, open.length - 1)) : found;
  place.current = at;
  const current = open[at];
  const views = useViews(of, current?.id, open[at + 1]?.id);
  const view = current === undefined ? undefined : views.get(current.id);
  const may = me.value?.may.decide === true;
  const go = (by: number) => {
    setEditing(false);
    setChosen(open[Math.min(open.length - 1, Math.max(0, at + by))]?.id);
  };
  const choose = (verdict: ProposalVerdict | 'accepted') => {
    if (!may || current === undefined) return;
    // Whether another says the same decides how it is accepted: that must be known first.
    if (verdict !== 'reject' && view === undefined) return;
    setEditing(false);
    failed.value = undefined;
    const similar = view?.similar ?? null;
    decideOn(current, verdict === 'accepted' ? acceptVerdict(similar) : verdict, project);
    setChosen(open[at + 1]?.id ?? open[at - 1]?.id);
  };
  const undone = (id: string | undefined) => {
    if (id !== undefined) setChosen(id);
  };
  useKeys([
    { keys: ['j', 'ArrowDown'], does: 'next proposal', run: () => go(1) },
    { keys: ['k', 'ArrowUp'], does: 'proposal before', run: () => go(-1) },
  ]);
  const deciding: readonly KeyBinding[] = [
    { keys: ['a'], does: 'accept the proposal', run: () => choose('accepted') },
    {
      keys: ['m'],
      does: 'merge it into the learning like it',
      run: () => (view?.similar ? choose('merge') : undefined),
    },
    { keys: ['e'], does: 'edit, then accept', run: () => setEditing(current !== undefined) },
    { keys: ['r'], does: 'reject the proposal', run: () => choose('reject') },
    { keys: ['u'], does: 'undo, for ten seconds', run: () => undone(takeBack()) },
  ];
  const save = async (content: string) => {
    if (current === undefined) return;
    try {
      if (content !== current.content)
        await ask('learning.edit', { ...of, id: current.id, content, by: 'inspector' });
      const seen = await ask('proposal.show', { ...of, id: current.id });
      setEditing(false);
      decideOn({ ...current, content }, acceptVerdict(seen.similar), project);
      setChosen(open[at + 1]?.id ?? open[at - 1]?.id);
    } catch (error) {
      failed.value = { text: content, error: asAskError(error) };
    }
  };
  const page = listed.pages[0];
  return (
    <>
      <AskedView asked={listed} what="proposals">
        {({ total }) =>
          open.length === 0 ? (
            <Empty
              title="Nothing to review"
              command="throughline learning propose &quot;Run the linter before you hand in&quot;"
            >
              <p>
                Proposals come from notes, from fixes that reviews ask for again and again, and from people.
                They wait here.
              </p>
            </Empty>
          ) : (
            <>
              {page?.rulesPaused === true ? (
                <p class="review-note">
                  <Tag tone="warn">paused</Tag> So many proposals wait that rules propose nothing more until
                  some are decided.
                </p>
              ) : null}
              <div class="review">
                <ol class="card review-list" aria-label="Proposals">
                  {open.map((proposal, index) => (
                    <ProposalRow
                      key={proposal.id}
                      proposal={proposal}
                      current={index === at}
                      onChoose={() => {
                        setEditing(false);
                        setChosen(proposal.id);
                      }}
                    />
                  ))}
                </ol>
                {current === undefined ? null : (
                  <ProposalCard
                    key={current.id}
                    proposal={current}
                    view={view}
                    may={may}
                    editing={editing}
                    onEdit={setEditing}
                    onSave={(content) => void save(content)}
                    onDecide={choose}
                  />
                )}
              </div>
              <MoreButton
                pages={listed}
                shown={open.length}
                total={total - (total >= decided.size ? countIn(listed.pages, decided) : 0)}
              />
            </>
          )
        }
      </AskedView>
      {may ? <Keys bindings={deciding} /> : null}
      <UndoBar onUndo={undone} />
    </>
  );
}

/** Keys that only work while this is there: who may decide is known later than the queue. */
function Keys({ bindings }: { readonly bindings: readonly KeyBinding[] }) {
  useKeys(bindings);
  return null;
}

function ProposalRow(props: {
  readonly proposal: PendingProposal;
  readonly current: boolean;
  readonly onChoose: () => void;
}) {
  const { proposal, current } = props;
  const row = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (current) row.current?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <li>
      <button
        ref={row}
        type="button"
        class="review-row"
        aria-current={current ? 'true' : undefined}
        onClick={props.onChoose}
      >
        <span class="review-text">{proposal.content}</span>
        <span class="quiet review-kind">{proposal.type.replace('_', ' ')}</span>
      </button>
    </li>
  );
}

/** The open proposal and the next with what is like them, as they are asked for. */
function useViews(
  of: { readonly project?: string },
  ...ids: readonly (string | undefined)[]
): ReadonlyMap<string, ProposalView> {
  const [views, setViews] = useState<ReadonlyMap<string, ProposalView>>(new Map());
  const wanted = ids.filter((id) => id !== undefined && !views.has(id)) as string[];
  const key = wanted.join(' ');
  useEffect(() => {
    const abort = new AbortController();
    for (const id of wanted) {
      ask('proposal.show', { ...of, id }, abort.signal)
        .then((view) => setViews((before) => new Map(before).set(id, view)))
        // The list says itself when a proposal is gone or the server is.
        .catch(() => undefined);
    }
    return () => abort.abort();
  }, [key]);
  return views;
}

function countIn(
  pages: readonly { readonly proposals: readonly PendingProposal[] }[],
  ids: ReadonlySet<string>,
): number {
  return pages.flatMap(({ proposals }) => proposals).filter(({ id }) => ids.has(id)).length;
}

/** What was decided and can still be taken back, with the seconds that are left. */
function UndoBar({ onUndo }: { readonly onUndo: (id: string) => void }) {
  const last = waiting.value.at(-1);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (last === undefined) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [last]);
  const fault = failed.value;
  const undo = () => {
    const id = takeBack();
    if (id !== undefined) onUndo(id);
  };
  return (
    <div class="undo-place">
      {/* The seconds are not read out: they would drown everything else. */}
      <div role="status" class="visually-hidden">
        {last === undefined ? '' : `${last.said}: ${last.text}. Press u to undo.`}
      </div>
      {last === undefined ? null : (
        <div class="undo-bar">
          <span class="one-line">
            <strong>{last.said}:</strong> {last.text}
          </span>
          {waiting.value.length > 1 ? <span class="quiet figure">{waiting.value.length} waiting</span> : null}
          <button type="button" class="button button-small" onClick={undo}>
            Undo <kbd>u</kbd>{' '}
            <span class="figure undo-seconds" aria-hidden="true">
              {Math.max(0, Math.ceil((last.due - now) / 1000))} s
            </span>
          </button>
        </div>
      )}
      {fault === undefined ? null : (
        <div class="undo-bar undo-failed" role="alert">
          <span>
            Not decided: {fault.text}. {asAskError(fault.error).message}
          </span>
          <button type="button" class="button button-small" onClick={() => (failed.value = undefined)}>
            Close
          </button>
        </div>
      )}
    </div>
  );
}
