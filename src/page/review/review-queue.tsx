import { useEffect, useRef, useState } from 'preact/hooks';
import type { ProposalView } from '../../contracts/replies/learning-reply.js';
import { ask, me } from '../ask.js';
import { Actions } from '../components/act.js';
import { Button, Tag } from '../components/fields.js';
import { AskedView, Empty, MoreButton } from '../components/states.js';
import { type KeyBinding, useKeys } from '../keys.js';
import { asAskError, usePages } from '../use-ask.js';
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

/** The pending proposals, one of them open: j and k move, one key decides, u undoes. */
export function ReviewQueue({ project }: { readonly project: string | undefined }) {
  const listed = usePages('proposal.list', { project, status: 'pending', limit: 100 }, 'event:learning');
  const decided = new Set([...sent.value, ...waiting.value.map(({ id }) => id)]);
  const loaded = listed.pages.flatMap(({ proposals }) => proposals);
  const open = loaded.filter(({ id }) => !decided.has(id));
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const [editing, setEditing] = useState(false);
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const found = open.findIndex(({ id }) => id === chosen);
  const place = useRef(0);
  // After a decision the next proposal opens at the same place.
  const at = found === -1 ? Math.min(place.current, Math.max(0, open.length - 1)) : found;
  place.current = at;
  const current = open[at];
  const views = useViews(project, current?.id, open[at + 1]?.id);
  const view = current === undefined ? undefined : views.get(current.id);
  const may = me.value?.may.decide === true;
  const go = (by: number) => {
    setEditing(false);
    setChosen(open[Math.min(open.length - 1, Math.max(0, at + by))]?.id);
  };
  const choose = (verdict: ProposalVerdict | 'accepted') => {
    if (!may || current === undefined) return;
    // A similar learning, which the view names, changes how the proposal is accepted.
    if (verdict !== 'reject' && view === undefined) return;
    setEditing(false);
    failed.value = undefined;
    decideOn(project, [current, verdict === 'accepted' ? acceptVerdict(view?.similar ?? null) : verdict]);
    setChosen(open[at + 1]?.id ?? open[at - 1]?.id);
  };
  const mark = (id: string | undefined) => {
    if (id === undefined) return;
    const others = new Set(marked);
    if (!others.delete(id)) others.add(id);
    setMarked(others);
  };
  const some = open.filter(({ id }) => marked.has(id));
  /** Decides on all marked proposals; one that is like a learning is merged or kept beside it, as if decided alone. */
  const chooseSome = async (isAccepted: boolean) => {
    const decisions = some.map(async (each): Promise<[PendingProposal, ProposalVerdict]> => {
      if (!isAccepted) return [each, 'reject'];
      const { similar } = views.get(each.id) ?? (await ask('proposal.show', { project, id: each.id }));
      return [each, acceptVerdict(similar)];
    });
    decideOn(project, ...(await Promise.all(decisions)));
    setMarked(new Set());
  };
  const undone = (id: string | undefined) => {
    if (id !== undefined) setChosen(id);
  };
  useKeys([
    { keys: ['j', 'ArrowDown'], does: 'next proposal', run: () => go(1) },
    { keys: ['k', 'ArrowUp'], does: 'previous proposal', run: () => go(-1) },
  ]);
  const deciding: readonly KeyBinding[] = [
    { keys: ['a'], does: 'accept the proposal', run: () => choose('accepted') },
    {
      keys: ['m'],
      does: 'merge it into the similar learning',
      run: () => (view?.similar ? choose('merge') : undefined),
    },
    { keys: ['e'], does: 'edit, then accept', run: () => setEditing(current !== undefined) },
    { keys: ['r'], does: 'reject the proposal', run: () => choose('reject') },
    { keys: ['x'], does: 'mark the proposal, to decide on several at once', run: () => mark(current?.id) },
    { keys: ['u'], does: 'undo, for ten seconds', run: () => undone(takeBack()) },
  ];
  const save = async (content: string) => {
    if (current === undefined) return;
    try {
      if (content !== current.content)
        await ask('learning.edit', { project, id: current.id, content, by: 'inspector' });
      const seen = await ask('proposal.show', { project, id: current.id });
      setEditing(false);
      decideOn(project, [{ ...current, content }, acceptVerdict(seen.similar)]);
      setChosen(open[at + 1]?.id ?? open[at - 1]?.id);
    } catch (error) {
      failed.value = { text: content, error: asAskError(error) };
    }
  };
  return (
    <>
      <AskedView asked={listed} what="proposals">
        {({ total, rulesPaused }) =>
          open.length === 0 ? (
            <Empty
              title="Nothing to review"
              command="throughline learning propose &quot;Run the linter before you hand in&quot;"
            >
              <p>Proposals come from notes, from fixes that reviews require repeatedly, and from people.</p>
            </Empty>
          ) : (
            <>
              {rulesPaused === true ? (
                <p class="block-end">
                  <Tag tone="warn">paused</Tag> Too many proposals are pending: rules propose nothing new
                  until you decide on some.
                </p>
              ) : null}
              {may ? (
                <p class="actions block-end">
                  <Button
                    small
                    onClick={() => setMarked(new Set(some.length > 0 ? [] : open.map(({ id }) => id)))}
                  >
                    {some.length > 0 ? 'Mark none' : 'Mark all'}
                  </Button>
                  {some.length === 0 ? null : (
                    <Actions
                      actions={[
                        { verb: `Accept ${some.length}`, run: () => chooseSome(true) },
                        { verb: `Reject ${some.length}`, run: () => chooseSome(false) },
                      ]}
                    />
                  )}
                </p>
              ) : null}
              <div class="split">
                <ol class="card rows review-list" aria-label="Proposals">
                  {open.map((proposal, index) => (
                    <ProposalRow
                      key={proposal.id}
                      proposal={proposal}
                      current={index === at}
                      marked={may ? marked.has(proposal.id) : undefined}
                      onMark={() => mark(proposal.id)}
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
                total={total - (total >= decided.size ? loaded.length - open.length : 0)}
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

/** A component of its own, because the permission to decide is loaded after the queue. */
function Keys({ bindings }: { readonly bindings: readonly KeyBinding[] }) {
  useKeys(bindings);
  return null;
}

function ProposalRow(props: {
  readonly proposal: PendingProposal;
  readonly current: boolean;
  /** Undefined for those who may not decide. */
  readonly marked: boolean | undefined;
  readonly onMark: () => void;
  readonly onChoose: () => void;
}) {
  const { proposal, current } = props;
  const row = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (current) row.current?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <li class="review-item">
      {props.marked === undefined ? null : (
        <input
          type="checkbox"
          aria-label={`Mark: ${proposal.content}`}
          checked={props.marked}
          onChange={props.onMark}
        />
      )}
      <button
        ref={row}
        type="button"
        class="pick review-row"
        aria-current={current ? 'true' : undefined}
        onClick={props.onChoose}
      >
        <span class="review-text">{proposal.content}</span>
        <span class="quiet small">{proposal.type.replace('_', ' ')}</span>
      </button>
    </li>
  );
}

/** Loads the views of the current and the next proposal. */
function useViews(
  project: string | undefined,
  ...ids: readonly (string | undefined)[]
): ReadonlyMap<string, ProposalView> {
  const [views, setViews] = useState<ReadonlyMap<string, ProposalView>>(new Map());
  const wanted = ids.filter((id) => id !== undefined && !views.has(id)) as string[];
  const key = wanted.join(' ');
  useEffect(() => {
    const abort = new AbortController();
    for (const id of wanted) {
      ask('proposal.show', { project, id }, abort.signal)
        .then((view) => setViews((before) => new Map(before).set(id, view)))
        // The list reports a missing proposal or server.
        .catch(() => undefined);
    }
    return () => abort.abort();
  }, [key]);
  return views;
}

/** The last decision, with the seconds that are left to undo it. */
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
      {/* Screen readers do not read the seconds, which would drown everything else. */}
      <div role="status" class="visually-hidden">
        {last === undefined ? '' : `${last.said}: ${last.text}. Press u to undo.`}
      </div>
      {last === undefined ? null : (
        <div class="undo-bar">
          <span class="one-line">
            <strong>{last.said}:</strong> {last.text}
          </span>
          {waiting.value.length > 1 ? (
            <span class="quiet figure">{waiting.value.length} not sent</span>
          ) : null}
          <Button small onClick={undo}>
            Undo <kbd>u</kbd>{' '}
            <span class="figure undo-seconds" aria-hidden="true">
              {Math.max(0, Math.ceil((last.due - now) / 1000))} s
            </span>
          </Button>
        </div>
      )}
      {fault === undefined ? null : (
        <div class="undo-bar undo-failed" role="alert">
          <span>
            Not decided: {fault.text}. {asAskError(fault.error).message}
          </span>
          <Button small onClick={() => (failed.value = undefined)}>
            Close
          </Button>
        </div>
      )}
    </div>
  );
}
