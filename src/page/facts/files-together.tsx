import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { FilesListed } from '../../contracts/replies/fact-reply.js';
import { Clock, FilterField } from '../components/fields.js';
import { AskedView, Empty } from '../components/states.js';
import { sessionHref, setParams } from '../route.js';
import { useAsk } from '../use-ask.js';
import { counted } from '../words.js';
import { type FileGraph, fileGraph, type GraphNode, shortPath } from './file-graph.js';

/** Files that results touched, as a picture of those that change together and as a list. */
export function FilesTogether(props: {
  readonly session: string;
  readonly file: string | undefined;
  readonly text: string;
}) {
  const { session, file, text } = props;
  const asked = useAsk('tool.file-list', { session, limit: 200, ...(text && { text }) }, session);
  return (
    <>
      <div class="tools">
        <FilterField
          label="Path"
          value={text}
          placeholder="src/parser"
          onFilter={(value) => setParams({ text: value })}
        />
      </div>
      <AskedView asked={asked} what="files">
        {(reply) =>
          reply.files.length === 0 ? (
            <Empty title={text === '' ? 'No result has named a file yet' : 'No file fits'}>
              Results name the files that they changed in <code>files_modified</code>.
            </Empty>
          ) : (
            <Files session={session} reply={reply} file={file} />
          )
        }
      </AskedView>
    </>
  );
}

function Files({
  session,
  reply,
  file,
}: {
  readonly session: string;
  readonly reply: FilesListed;
  readonly file: string | undefined;
}) {
  const graph = useMemo(() => fileGraph(reply), [reply]);
  const [pointed, setPointed] = useState<number | undefined>(undefined);
  const chosen = reply.files.findIndex(({ path }) => path === file);
  const active = pointed ?? (chosen === -1 ? undefined : chosen);
  const together = (index: number) =>
    reply.links
      .flatMap(({ from, to, together: times }) =>
        from === index ? [{ other: to, times }] : to === index ? [{ other: from, times }] : [],
      )
      .sort((one, other) => other.times - one.times);
  const shown = chosen === -1 ? undefined : reply.files[chosen];
  const panel = useOpened(shown?.path);
  return (
    <div class="split split-open">
      <div class="split-list">
        {graph.nodes.length === 0 ? (
          <p class="card hint quiet">No two files were changed by one result so far.</p>
        ) : (
          <Picture graph={graph} active={active} chosen={chosen} onPoint={setPointed} />
        )}
      </div>
      <div class="split-detail">
        {shown === undefined ? null : (
          <section ref={panel} class="card fact-panel" aria-label="The file">
            <div class="card-head">
              <h2 class="mono">{shown.path}</h2>
              <button
                type="button"
                class="button button-small"
                onClick={() => setParams({ file: undefined })}
              >
                Close
              </button>
            </div>
            <div class="fact-body">
              <p class="quiet">
                {counted(shown.uses, 'result')}
                {shown.last === undefined ? null : (
                  <>
                    , last <Clock at={shown.last} />
                  </>
                )}
              </p>
              <p>
                Tasks:{' '}
                {shown.tasks.map((task, index) => (
                  <span key={task}>
                    {index === 0 ? '' : ', '}
                    <a href={sessionHref(session, 'timeline', { task })}>{task}</a>
                  </span>
                ))}
              </p>
              <p class="origin-links">
                <a
                  class="button button-small"
                  href={sessionHref(session, 'facts', { subject: shown.path, is: 'all' })}
                >
                  Facts about it
                </a>
              </p>
              <h3>Changes together with</h3>
              {together(chosen).length === 0 ? <p class="quiet">No other file.</p> : null}
              <ul class="fact-prompts">
                {together(chosen).map(({ other, times }) => (
                  <li key={other}>
                    <FileLink session={session} path={reply.files[other]?.path ?? ''} />{' '}
                    <span class="quiet figure">{counted(times, 'time')}</span>
                  </li>
                ))}
              </ul>
            </div>
          </section>
        )}
        <section class="card" aria-label="Files">
          <div class="card-head">
            <h2>Files</h2>
            <span class="quiet figure">
              {reply.files.length} of {reply.total}
            </span>
          </div>
          <ol class="file-list">
            {reply.files.map(({ path, uses }, index) => (
              <li
                key={path}
                onMouseEnter={() => setPointed(index)}
                onMouseLeave={() => setPointed(undefined)}
              >
                <a
                  data-row
                  class="file-row"
                  href={sessionHref(session, 'facts', { tab: 'files', file: path })}
                  aria-current={index === chosen ? 'true' : undefined}
                  onFocus={() => setPointed(index)}
                  onBlur={() => setPointed(undefined)}
                >
                  <span class="mono one-line file-path">
                    <bdi>{path}</bdi>
                  </span>
                  <span class="quiet figure">{uses}</span>
                </a>
              </li>
            ))}
          </ol>
        </section>
      </div>
    </div>
  );
}

function FileLink({ session, path }: { readonly session: string; readonly path: string }) {
  return (
    <a class="mono" href={sessionHref(session, 'facts', { tab: 'files', file: path })}>
      {path}
    </a>
  );
}

/** The picture. The list beside it says the same to those who hear the page, and is the way by keyboard. */
function Picture(props: {
  readonly graph: FileGraph;
  readonly active: number | undefined;
  readonly chosen: number;
  readonly onPoint: (index: number | undefined) => void;
}) {
  const { graph, active } = props;
  const near = new Set(
    graph.edges.flatMap(({ from, to }) =>
      from.index === active ? [to.index] : to.index === active ? [from.index] : [],
    ),
  );
  const named = [...graph.nodes].sort((one, other) => other.uses - one.uses).slice(0, 14);
  const label = (node: GraphNode) =>
    node.index === active || near.has(node.index) || (active === undefined && named.includes(node));
  const dim = (index: number) => active !== undefined && index !== active && !near.has(index);
  return (
    <svg
      class="card graph"
      viewBox={`0 0 ${graph.width} ${graph.height}`}
      role="img"
      aria-label={`${graph.nodes.length} files and which of them change together; the list of files says the same`}
    >
      {graph.edges.map(({ from, to, weight }) => (
        <line
          key={`${from.index} ${to.index}`}
          x1={from.x}
          y1={from.y}
          x2={to.x}
          y2={to.y}
          stroke-width={(0.8 + 3.2 * weight).toFixed(1)}
          class={
            from.index === active || to.index === active
              ? 'graph-edge graph-edge-near'
              : active === undefined
                ? 'graph-edge'
                : 'graph-edge graph-dim'
          }
        />
      ))}
      {graph.nodes.map((node) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the list of files is the way by keyboard.
        <g
          key={node.path}
          class={`graph-node ${dim(node.index) ? 'graph-dim' : ''} ${node.index === props.chosen ? 'graph-chosen' : ''}`}
          onMouseEnter={() => props.onPoint(node.index)}
          onMouseLeave={() => props.onPoint(undefined)}
          onClick={() => setParams({ file: node.path })}
        >
          <title>{node.path}</title>
          <circle cx={node.x} cy={node.y} r={node.radius} />
          {label(node) ? (
            <text x={node.x} y={node.y - node.radius - 4}>
              {shortPath(node.path)}
            </text>
          ) : null}
        </g>
      ))}
    </svg>
  );
}

/** What was opened is seen from its beginning: beside the list, or below it where the screen is narrow. */
export function useOpened(opened: string | undefined): RefObject<HTMLElement | null> {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    if (opened === undefined || panel.current === null) return;
    if (matchMedia('(max-width: 980px)').matches) panel.current.scrollIntoView({ block: 'start' });
    else panel.current.closest('.split-detail')?.scrollTo(0, 0);
  }, [opened]);
  return panel;
}
