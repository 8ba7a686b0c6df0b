import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredVector, VectorStore } from '../../../src/engine/ports/vector-store.js';
import { learningId } from '../../support/learning-maps.js';
import * as fc from '../../support/properties.js';
import { newSession } from './opened.js';

/** A vector store, also opened as another process. */
export interface OpenedVectorStore {
  readonly store: VectorStore;
  readonly other: VectorStore;
  close(): Promise<void>;
}

const newProject = () => newSession('project');

/** The contract of `src/engine/ports/vector-store.ts`. */
export function vectorStoreContract(name: string, open: () => Promise<OpenedVectorStore>): void {
  describe(`the vector store, ${name}`, () => {
    let opened: OpenedVectorStore;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    it('the vector store holds nothing for a project without vectors', async () => {
      expect(await opened.store.read(newProject(), 0)).toEqual({ vectors: [], through: 0 });
      expect(await opened.store.read(newProject(), 7)).toEqual({ vectors: [], through: 7 });
    });

    it('the vector store gives back the vectors that were written, oldest first, to every reader and for their project alone', async () => {
      const [project, another] = [newProject(), newProject()];
      await opened.store.put(project, learningId(2), vectorOf('two'));
      await opened.store.put(another, learningId(9), vectorOf('nine'));
      await opened.other.put(project, learningId(1), vectorOf('one'));
      const expected = [
        { learning: learningId(2), ...vectorOf('two') },
        { learning: learningId(1), ...vectorOf('one') },
      ];
      expect((await opened.store.read(project, 0)).vectors).toEqual(expected);
      expect((await opened.other.read(project, 0)).vectors).toEqual(expected);
      expect((await opened.store.read(another, 0)).vectors).toHaveLength(1);
    });

    it('the vector store gives only vectors that are new after those already read', async () => {
      const project = newProject();
      await opened.store.put(project, learningId(1), vectorOf('one'));
      const first = await opened.store.read(project, 0);
      expect(await opened.store.read(project, first.through)).toEqual({
        vectors: [],
        through: first.through,
      });
      await opened.other.put(project, learningId(2), vectorOf('two'));
      const second = await opened.store.read(project, first.through);
      expect(second.vectors).toEqual([{ learning: learningId(2), ...vectorOf('two') }]);
      expect(second.through).toBeGreaterThan(first.through);
    });

    it('the vector store keeps one vector of each learning, the newest, in its new place', async () => {
      const project = newProject();
      await opened.store.put(project, learningId(1), vectorOf('one'));
      await opened.store.put(project, learningId(2), vectorOf('two'));
      const { through } = await opened.store.read(project, 0);
      const again = { ...vectorOf('one, edited'), model: 'another' };
      await opened.store.put(project, learningId(1), again);
      const expected = [
        { learning: learningId(2), ...vectorOf('two') },
        { learning: learningId(1), ...again },
      ];
      expect((await opened.store.read(project, 0)).vectors).toEqual(expected);
      expect((await opened.store.read(project, through)).vectors).toEqual(expected.slice(1));
    });

    it('the vector store gives vectors and texts back bit for bit', async () => {
      const project = newProject();
      const floats = fc.float32Array({ minLength: 1, maxLength: 20, noNaN: true, noDefaultInfinity: true });
      const text = fc.string({ unit: 'grapheme' });
      const roundTrip = fc.asyncProperty(floats, text, text, async (vector, content, model) => {
        await opened.store.put(project, learningId(1), { model, text: content, vector });
        const { vectors } = await opened.other.read(project, 0);
        expect(vectors).toEqual([{ learning: learningId(1), model, text: content, vector }]);
      });
      await fc.assert(roundTrip, { numRuns: 50 });
    });

    it('the vector store keeps a vector as it was when it was written', async () => {
      const project = newProject();
      const stored = vectorOf('one');
      await opened.store.put(project, learningId(1), stored);
      stored.vector.fill(7);
      const { vectors } = await opened.store.read(project, 0);
      expect(vectors[0]?.vector).toEqual(vectorOf('one').vector);
      vectors[0]?.vector.fill(8);
      expect((await opened.store.read(project, 0)).vectors[0]?.vector).toEqual(vectorOf('one').vector);
    });

    it('the vector store takes and gives thousands of vectors', async () => {
      const project = newProject();
      const vector = Float32Array.from({ length: 384 }, (_, i) => Math.sin(i));
      const COUNT = 2500;
      for (let from = 0; from < COUNT; from += 500) {
        const writes = Array.from({ length: 500 }, (_, i) =>
          opened.store.put(project, learningId(from + i + 1), {
            model: 'm',
            text: `text ${from + i + 1}`,
            vector,
          }),
        );
        await Promise.all(writes);
      }
      const { vectors } = await opened.other.read(project, 0);
      expect(new Set(vectors.map(({ learning }) => learning)).size).toBe(COUNT);
      expect(vectors).toHaveLength(COUNT);
      expect(vectors.every((stored) => stored.vector.length === 384)).toBe(true);
    });
  });
}

function vectorOf(text: string): StoredVector {
  return { model: 'm', text, vector: Float32Array.from(text, (char) => char.charCodeAt(0) / 3) };
}
