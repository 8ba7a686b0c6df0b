import type { FilesListed } from '../../contracts/replies/fact-reply.js';

/** A graph of files that change together: where each stands. The same files always give the same picture. */

export interface GraphNode {
  /** Place of the file in the list. */
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
  readonly together: number;
  /** 0 to 1, by how often they changed together. */
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
/** Turns between two nodes of the first spiral: the golden angle, so that none stand in a line. */
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/** Places the files that change together with another one, at most `most` of them. */
export function fileGraph({ files, links }: Pick<FilesListed, 'files' | 'links'>, most = 60): FileGraph {
  const linked = new Set(links.flatMap(({ from, to }) => [from, to]));
  const shown = files
    .flatMap((file, index) => (linked.has(index) ? [{ ...file, index }] : []))
    .slice(0, most);
  const place = new Map(shown.map(({ index }, at) => [index, at]));
  const edges = links.flatMap(({ from, to, together }) => {
    const [one, other] = [place.get(from), place.get(to)];
    return one === undefined || other === undefined ? [] : [{ one, other, together }];
  });
  const strongest = Math.max(1, ...edges.map(({ together }) => together));
  const points = shown.map((_, at) => {
    const distance = 26 * Math.sqrt(at + 0.5);
    return { x: distance * Math.cos(at * GOLDEN), y: 0.7 * distance * Math.sin(at * GOLDEN) };
  });
  settle(
    points,
    edges.map((edge) => ({ ...edge, weight: edge.together / strongest })),
  );
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
    edges: edges.flatMap(({ one, other, together }) => {
      const [from, to] = [nodes[one], nodes[other]];
      return from === undefined || to === undefined
        ? []
        : [{ from, to, together, weight: together / strongest }];
    }),
  };
}

interface Point {
  x: number;
  y: number;
}

/** Nodes push each other away, links pull, everything is drawn to the middle; each step moves them less. */
function settle(
  points: Point[],
  edges: readonly { readonly one: number; readonly other: number; readonly weight: number }[],
): void {
  const length = 70;
  for (let step = 0; step < STEPS; step += 1) {
    const moves = points.map(({ x, y }) => ({ x: -x * 0.012, y: -y * 0.02 }));
    for (const [at, one] of points.entries()) {
      for (let next = at + 1; next < points.length; next += 1) {
        const other = points[next];
        if (other === undefined) continue;
        const [dx, dy] = [one.x - other.x, one.y - other.y];
        const square = Math.max(36, dx * dx + dy * dy);
        push(
          moves,
          at,
          next,
          (dx * 2600) / square / Math.sqrt(square),
          (dy * 2600) / square / Math.sqrt(square),
        );
      }
    }
    for (const { one, other, weight } of edges) {
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

/** Brings points into the picture, in whole tenths so that every machine draws the same. */
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

/** The end of a path, which is what tells files apart. */
export function shortPath(path: string, most = 28): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}
