import { describe, expect, it } from 'vitest';
import { fileGraph, shortPath } from '../../src/page/facts/files-together.js';
import * as fc from '../support/properties.js';

const listed = fc.integer({ min: 0, max: 30 }).chain((count) =>
  fc.record({
    files: fc.constant(
      Array.from({ length: count }, (_, index) => ({
        path: `src/${index}.ts`,
        uses: (index % 5) + 1,
        tasks: [],
      })),
    ),
    links: fc.array(
      fc.record({
        from: fc.nat(Math.max(0, count - 1)),
        to: fc.nat(Math.max(0, count - 1)),
        together: fc.integer({ min: 1, max: 9 }),
      }),
      { maxLength: 40 },
    ),
  }),
);

describe('the graph of files that change together', () => {
  it('the graph of files is the same each time, within its picture, with no two files in one place', () => {
    fc.assert(
      fc.property(listed, ({ files, links }) => {
        const pairs = links.filter(({ from, to }) => from !== to);
        const graph = fileGraph({ files, links: pairs });
        expect(fileGraph({ files, links: pairs })).toEqual(graph);
        const places = graph.nodes.map(({ x, y }) => `${Math.round(x)},${Math.round(y)}`);
        expect(new Set(places).size).toBe(places.length);
        for (const { x, y } of graph.nodes) {
          expect(x).toBeGreaterThanOrEqual(0);
          expect(x).toBeLessThanOrEqual(graph.width);
          expect(y).toBeGreaterThanOrEqual(0);
          expect(y).toBeLessThanOrEqual(graph.height);
        }
        const known = files.length === 0 ? [] : pairs;
        expect(graph.edges).toHaveLength(known.length);
      }),
      { numRuns: 60 },
    );
  });

  it('files that change together stand nearer than those that do not', () => {
    const files = Array.from({ length: 6 }, (_, index) => ({ path: `${index}`, uses: 1, tasks: [] }));
    const pair = (from: number, to: number, together: number) => ({ from, to, together });
    const links = [pair(0, 1, 9), pair(0, 2, 9), pair(1, 2, 9), pair(3, 4, 9), pair(3, 5, 9), pair(4, 5, 9)];
    const { nodes } = fileGraph({ files, links });
    const apart = (one: number, other: number) =>
      Math.hypot(
        (nodes[one]?.x ?? 0) - (nodes[other]?.x ?? 0),
        (nodes[one]?.y ?? 0) - (nodes[other]?.y ?? 0),
      );
    expect(apart(0, 1)).toBeLessThan(apart(0, 3));
    expect(apart(4, 5)).toBeLessThan(apart(2, 5));
  });

  it('a label is the name of the file, cut where it is long', () => {
    expect(shortPath('src/nats/session-log.ts')).toBe('session-log.ts');
    expect(shortPath(`a/${'x'.repeat(40)}`)).toHaveLength(28);
  });
});
