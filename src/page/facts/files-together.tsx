import { useMemo, useState } from 'preact/hooks';
import type { FilesListed } from '../../contracts/replies/fact-reply.js';
import { ButtonLink, Clock, FilterField } from '../components/fields.js';
import { AskedView, CardHead, Empty, Panel } from '../components/states.js';
import { sessionHref, setParams } from '../route.js';
import { useAsk } from '../use-ask.js';
import { counted } from '../words.js';

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

export interface GraphNode {
  /** Index of the file in the list. */
  readonly index: number;
  readonly path: string;
  readonly uses: number;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

interface GraphEdge {
  readonly from: GraphNode;
  readonly to: GraphNode;
  /** 0 to 1, by how often both files changed together. */
  readonly weight: number;
}

export interface FileGraph {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

const WIDTH = 960;
const HEIGHT = 600;
const EDGE = 48;
const STEPS = 260;
/** The golden angle between two nodes of the initial spiral, so that no nodes are in line. */
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/** Lays out the files that change together with others. The same files always give the same picture. */
export function fileGraph({ files, links }: Pick<FilesListed, 'files' | 'links'>, most = 60): FileGraph {
  const linked = new Set(links.flatMap(({ from, to }) => [from, to]));
  const shown = files
    .flatMap((file, index) => (linked.has(index) ? [{ ...file, index }] : []))
    .slice(0, most);
  const place = new Map(shown.map(({ index }, at) => [index, at]));
  const drawn = links.filter(({ from, to }) => place.has(from) && place.has(to));
  const strongest = Math.max(1, ...drawn.map(({ together }) => together));
  const edges = drawn.map(
    ({ from, to, together }): Link => ({
      one: place.get(from) ?? 0,
      other: place.get(to) ?? 0,
      weight: together / strongest,
    }),
  );
  const points = shown.map((_, at) => {
    const distance = 26 * Math.sqrt(at + 0.5);
    return { x: distance * Math.cos(at * GOLDEN), y: 0.7 * distance * Math.sin(at * GOLDEN) };
  });
  settle(points, edges);
  const placed = fitted(points);
  const busiest = Math.max(1, ...shown.map(({ uses }) => uses));
  const nodes = shown.map(
    ({ index, path, uses }, at): GraphNode => ({
      ...{ index, path, uses },
      ...placed(points[at] ?? { x: 0, y: 0 }),
      radius: 4 + 8 * Math.sqrt(uses / busiest),
    }),
  );
  return {
    width: WIDTH,
    height: HEIGHT,
    nodes,
    edges: edges.flatMap(({ one, other, weight }) => {
      const [from, to] = [nodes[one], nodes[other]];
      return from && to ? [{ from, to, weight }] : [];
    }),
  };
}

interface Point {
  x: number;
  y: number;
}

interface Link {
  readonly one: number;
  readonly other: number;
  readonly weight: number;
}

/** A force-directed layout: nodes repel each other, links and the centre attract, and each step moves nodes less. */
function settle(points: Point[], links: readonly Link[]): void {
  const length = 70;
  for (let step = 0; step < STEPS; step += 1) {
    const moves = points.map(({ x, y }) => ({ x: -x * 0.012, y: -y * 0.02 }));
    for (const [at, one] of points.entries()) {
      for (let next = at + 1; next < points.length; next += 1) {
        const other = points[next];
        if (other === undefined) continue;
        const [dx, dy] = [one.x - other.x, one.y - other.y];
        const square = Math.max(36, dx * dx + dy * dy);
        const force = 2600 / square / Math.sqrt(square);
        push(moves, at, next, dx * force, dy * force);
      }
    }
    for (const { one, other, weight } of links) {
      const [a, b] = [points[one], points[other]];
      if (a === undefined || b === undefined) continue;
      const [dx, dy] = [a.x - b.x, a.y - b.y];
      const distance = Math.max(1, Math.hypot(dx, dy));
      const pull = (-(distance - length) / distance) * (0.02 + 0.06 * weight);
      push(moves, one, other, dx * pull, dy * pull);
    }
    const heat = 14 * (1 - step / STEPS) + 0.4;
    for (const [at, point] of points.entries()) {
      const move = moves[at] ?? { x: 0, y: 0 };
      const size = Math.max(1, Math.hypot(move.x, move.y) / heat);
      point.x += move.x / size;
      point.y += move.y / size;
    }
  }
}

function push(moves: Point[], one: number, other: number, x: number, y: number): void {
  const [a, b] = [moves[one], moves[other]];
  if (a === undefined || b === undefined) return;
  a.x += x;
  a.y += y;
  b.x -= x;
  b.y -= y;
}

/** Scales points to the picture, rounded to tenths so that every machine draws the same. */
function fitted(points: readonly Point[]): (point: Point) => Point {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [wide, high] = [Math.max(...xs) - left, Math.max(...ys) - top];
  const scale = Math.min(
    (WIDTH - 2 * EDGE) / Math.max(wide, 1),
    (HEIGHT - 2 * EDGE) / Math.max(high, 1),
    2.4,
  );
  const inset = { x: (WIDTH - wide * scale) / 2, y: (HEIGHT - high * scale) / 2 };
  const round = (value: number) => Math.round(value * 10) / 10;
  return ({ x, y }) => ({ x: round(inset.x + (x - left) * scale), y: round(inset.y + (y - top) * scale) });
}

/** Returns the file name of a path, cut if it is long. */
export function shortPath(path: string, most = 28): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}
