import type { FilesListed } from '../../contracts/replies/fact-reply.js';

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
