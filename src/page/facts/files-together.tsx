import { useMemo, useState } from 'preact/hooks';
import type { FilesListed } from '../../contracts/replies/fact-reply.js';
import { ButtonLink, Clock, FilterField } from '../components/fields.js';
import { AskedView, CardHead, Empty, Panel } from '../components/states.js';
import { sessionHref, setParams } from '../route.js';
import { useAsk } from '../use-ask.js';
import { counted } from '../words.js';
import { type FileGraph, fileGraph, type GraphNode, shortPath } from './file-graph.js';

/** Files that results changed: a list, and a graph of files that change together. */
export function FilesTogether(props: {
  readonly session: string;
  readonly file: string | undefined;
  readonly text: string;
}) {
  const { session, file, text } = props;
  const asked = useAsk('tool.file-list', { session, limit: 200, text: text || undefined }, session);
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

function Files(props: {
  readonly session: string;
  readonly reply: FilesListed;
  readonly file: string | undefined;
}) {
  const { session, reply, file } = props;
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
  return (
    <div class="split split-open">
      <div class="split-list">
        {graph.nodes.length === 0 ? (
          <p class="card card-body quiet">No two files were changed by one result so far.</p>
        ) : (
          <Picture graph={graph} active={active} chosen={chosen} onPoint={setPointed} />
        )}
      </div>
      <div class="split-detail">
        {shown === undefined ? null : (
          <Panel
            label="The file"
            title={<span class="mono">{shown.path}</span>}
            opened={shown.path}
            onClose={() => setParams({ file: undefined })}
          >
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
            <p class="actions">
              <ButtonLink href={sessionHref(session, 'facts', { subject: shown.path, is: 'all' })}>
                Facts about it
              </ButtonLink>
            </p>
            <h3>Changes together with</h3>
            {together(chosen).length === 0 ? <p class="quiet">No other file.</p> : null}
            <ul class="fact-prompts">
              {together(chosen).map(({ other, times }) => (
                <li key={other}>
                  <a class="mono" href={fileHref(session, reply.files[other]?.path)}>
                    {reply.files[other]?.path}
                  </a>{' '}
                  <span class="quiet figure">{counted(times, 'time')}</span>
                </li>
              ))}
            </ul>
          </Panel>
        )}
        <section class="card" aria-label="Files">
          <CardHead title="Files">
            {reply.files.length} of {reply.total}
          </CardHead>
          <ol class="file-list">
            {reply.files.map(({ path, uses }, index) => (
              <li
                key={path}
                onMouseEnter={() => setPointed(index)}
                onMouseLeave={() => setPointed(undefined)}
              >
                <a
                  data-row
                  class="pick file-row"
                  href={fileHref(session, path)}
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

function fileHref(session: string, file: string | undefined): string {
  return sessionHref(session, 'facts', { tab: 'files', file });
}

/** The graph. Keyboards and screen readers use the list beside it. */
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
          class={`graph-edge ${active === undefined ? '' : from.index === active || to.index === active ? 'graph-edge-near' : 'graph-dim'}`}
        />
      ))}
      {graph.nodes.map((node) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: keyboards use the list of files.
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
