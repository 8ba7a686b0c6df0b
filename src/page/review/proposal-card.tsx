import { useEffect, useRef, useState } from 'preact/hooks';
import type { ProposalView } from '../../contracts/replies/learning-reply.js';
import { Ago, Button, Pair, Tag } from '../components/fields.js';
import { sessionHref } from '../route.js';
import { METHODS, type PendingProposal, type ProposalVerdict } from './decisions.js';

/** Longest learning that the services accept, in characters. */
const MOST = 200;

/** The current proposal, with its origin, its evidence and the most similar learning. */
export function ProposalCard(props: {
  readonly proposal: PendingProposal;
  /** Undefined until it is loaded. */
  readonly view: ProposalView | undefined;
  readonly may: boolean;
  readonly editing: boolean;
  readonly onEdit: (editing: boolean) => void;
  readonly onSave: (content: string) => void;
  readonly onDecide: (verdict: ProposalVerdict | 'accepted') => void;
}) {
  const { proposal, view } = props;
  const similar = view?.similar ?? null;
  return (
    <section class="card proposal" aria-label="The proposal">
      <div class="card-body">
        {props.editing ? (
          <EditForm content={proposal.content} onSave={props.onSave} onCancel={() => props.onEdit(false)} />
        ) : (
          <p class="proposal-says">{proposal.content}</p>
        )}
        <p class="tags">
          <Tag tone="info">{proposal.type.replace('_', ' ')}</Tag>
          {proposal.confidence === undefined ? null : <Tag>confidence {proposal.confidence.toFixed(2)}</Tag>}
          {proposal.tags.map((tag) => (
            <Tag key={tag}>{tag}</Tag>
          ))}
        </p>
        {similar === null ? null : (
          <div class="evidence">
            <p>
              <Tag tone="warn">
                {similar.similarity >= 1
                  ? 'says the same'
                  : `${Math.round(similar.similarity * 100)} % alike`}
              </Tag>{' '}
              as an accepted learning:
            </p>
            <p>{similar.content}</p>
          </div>
        )}
        {props.may && !props.editing ? (
          <div class="actions">
            {similar !== null && similar.similarity >= 1 ? null : (
              <Button tone="main" disabled={view === undefined} onClick={() => props.onDecide('accepted')}>
                {similar === null ? 'Accept' : 'Keep both'} <kbd>a</kbd>
              </Button>
            )}
            {similar === null ? null : (
              <Button onClick={() => props.onDecide('merge')}>
                Merge <kbd>m</kbd>
              </Button>
            )}
            <Button onClick={() => props.onEdit(true)}>
              Edit <kbd>e</kbd>
            </Button>
            <Button onClick={() => props.onDecide('reject')}>
              Reject <kbd>r</kbd>
            </Button>
          </div>
        ) : null}
        <dl class="pairs">
          <Pair name="Source">{METHODS[proposal.method]}</Pair>
          {proposal.source.session === undefined ? null : (
            <Pair name="First seen in">{proposal.source.session}</Pair>
          )}
        </dl>
        <p class="quiet">
          Proposed <Ago at={proposal.extractedAt} />
        </p>
        <Evidence proposal={view?.proposal ?? proposal} />
      </div>
    </section>
  );
}

function Evidence({ proposal }: { readonly proposal: Pick<PendingProposal, 'evidence'> }) {
  const { evidence } = proposal;
  return (
    <>
      <h3>
        Evidence <span class="quiet figure">{evidence.length}</span>
      </h3>
      {evidence.length === 0 ? (
        <p class="quiet">No result supports it: a person or a note proposed it.</p>
      ) : (
        <ul>
          {[...evidence].reverse().map(({ session, dispatch, task }) => (
            <li key={`${session} ${dispatch}`}>
              <a href={sessionHref(session, 'timeline', { task })}>
                {session}, task {task}
              </a>{' '}
              <span class="quiet figure">result {dispatch}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function EditForm(props: {
  readonly content: string;
  readonly onSave: (content: string) => void;
  readonly onCancel: () => void;
}) {
  const [text, setText] = useState(props.content);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const length = [...text.trim()].length;
  const fits = length > 0 && length <= MOST;
  const save = () => {
    if (fits) props.onSave(text.trim());
  };
  return (
    <div class="edit-form">
      <label class="field">
        <span class="field-label">
          One sentence of at most {MOST} characters; Enter accepts it, Esc cancels
        </span>
        <textarea
          ref={field}
          rows={3}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey) {
              event.preventDefault();
              save();
            } else if (event.key === 'Escape') {
              event.preventDefault();
              event.stopPropagation();
              props.onCancel();
            }
          }}
        />
      </label>
      <div class="actions">
        <Button tone="main" disabled={!fits} onClick={save}>
          Save and accept
        </Button>
        <Button onClick={props.onCancel}>Cancel</Button>
        <span class={`figure ${length > MOST ? 'bad' : 'quiet'}`}>
          {length} of {MOST}
        </span>
      </div>
    </div>
  );
}
