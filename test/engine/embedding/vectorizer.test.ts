import { afterEach, describe, expect, it } from 'vitest';
import { TextsRefusedError, ThroughlineError } from '../../../src/contracts/errors.js';
import { token } from '../../../src/contracts/names.js';
import { Vectoriser, type VectoriserOptions } from '../../../src/engine/embedding/vectorizer.js';
import type { Learning } from '../../../src/memory/learnings/learnings-state.js';
import { MemoryVectorStore } from '../../doubles/memory-vector-store.js';
import { type ScriptedEmbedder, scriptedEmbedder } from '../../support/embedders.js';
import { bagVector } from '../../support/embedding-server.js';
import { learningId, learningOf, mapOf, someHistory } from '../../support/learning-maps.js';
import { loggedWarnings } from '../../support/logged.js';
import * as fc from '../../support/properties.js';

const project = token('demo', 'project');

const running: Vectoriser[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((vectoriser) => vectoriser.stop()));
});

function started(options: Partial<VectoriserOptions> & { embedder?: ScriptedEmbedder } = {}) {
  const { logger, warnings } = loggedWarnings();
  const embedder = options.embedder ?? scriptedEmbedder();
  const vectors = options.vectors ?? new MemoryVectorStore();
  const vectoriser = new Vectoriser({ logger, pauseMs: 1, maxPauseMs: 2, ...options, embedder, vectors });
  running.push(vectoriser);
  const inStep = async (learnings: ReadonlyMap<string, Learning>) => {
    vectoriser.sync(project, learnings);
    await vectoriser.idle(project);
  };
  const stored = async () =>
    new Map((await vectors.read(project, 0)).vectors.map(({ learning, ...rest }) => [learning, rest]));
  return { vectoriser, embedder, vectors, warnings, inStep, stored };
}

const vectorOf = ({ content }: Learning, dimension = 64, model = 'bag') => ({
  model,
  text: content,
  vector: bagVector(content, dimension),
});

describe('the vectoriser', () => {
  it('the vectorizer computes what is missing, in batches, and nothing twice', async () => {
    const { embedder, inStep, stored } = started({ batch: 4 });
    const learnings = mapOf(...Array.from({ length: 10 }, (_, n) => learningOf(n + 1)));
    await inStep(learnings);
    for (const learning of learnings.values()) {
      expect((await stored()).get(learningId(Number.parseInt(learning.id, 16)))).toEqual(vectorOf(learning));
    }
    expect(embedder.calls.map((texts) => texts.length)).toEqual([4, 4, 2]);
    await inStep(new Map(learnings));
    expect(embedder.calls).toHaveLength(3);
  });

  it('the vectorizer computes only the texts that changed', async () => {
    const { embedder, inStep, stored } = started();
    await inStep(mapOf(learningOf(1), learningOf(2)));
    embedder.calls.length = 0;
    const edited = learningOf(1, 'said better');
    await inStep(mapOf({ ...learningOf(2), tags: ['new'] }, edited));
    expect(embedder.calls).toEqual([['said better']]);
    expect((await stored()).get(learningId(1))).toEqual(vectorOf(edited));
  });

  it('the vectorizer uses what other processes have stored', async () => {
    const vectors = new MemoryVectorStore();
    const learnings = mapOf(learningOf(1), learningOf(2));
    await started({ vectors }).inStep(learnings);
    const later = started({ vectors });
    await later.inStep(learnings);
    expect(later.embedder.calls).toEqual([]);
  });

  it('the vectorizer computes all vectors again for another model', async () => {
    const vectors = new MemoryVectorStore();
    const learnings = mapOf(learningOf(1), learningOf(2));
    await started({ vectors }).inStep(learnings);
    const later = started({ vectors, embedder: scriptedEmbedder('another') });
    await later.inStep(learnings);
    const models = [...(await later.stored()).values()].map(({ model }) => model);
    expect(models).toEqual(['another', 'another']);
  });

  it('the vectorizer computes all vectors again when the model is exchanged under its name while it runs', async () => {
    const { embedder, inStep, stored } = started({ batch: 2 });
    await inStep(mapOf(learningOf(1), learningOf(2), learningOf(3)));
    embedder.dimension = 32;
    await inStep(mapOf(learningOf(1), learningOf(2), learningOf(3), learningOf(4)));
    const lengths = [...(await stored()).values()].map(({ vector }) => vector.length);
    expect(lengths).toEqual([32, 32, 32, 32]);
  });

  it('the vectorizer computes all vectors again, each once, when it is told of a model exchanged under its name', async () => {
    const { vectoriser, embedder, inStep, stored } = started();
    const learnings = mapOf(learningOf(1), learningOf(2), learningOf(3));
    await inStep(learnings);
    embedder.dimension = 32;
    embedder.calls.length = 0;
    for (let told = 0; told < 3; told += 1) {
      vectoriser.exchanged(32);
      await inStep(learnings);
    }
    const lengths = [...(await stored()).values()].map(({ vector }) => vector.length);
    expect(lengths).toEqual([32, 32, 32]);
    expect(embedder.calls).toHaveLength(1);
  });

  it('the vectorizer stops at some point with a model that changes each time', async () => {
    const { embedder, inStep, warnings } = started({ batch: 1, pauseMs: 1 });
    let asked = 0;
    embedder.before = async () => {
      asked += 1;
      if (asked < 12) embedder.dimension = 10 + (asked % 3);
    };
    await inStep(mapOf(learningOf(1), learningOf(2), learningOf(3)));
    expect(warnings[0]?.fields).toMatchObject({
      err: { message: expect.stringContaining('keeps changing') },
    });
  });

  it('the vectorizer tries again after failures of the embedder and of the store, and says so', async () => {
    const vectors = new MemoryVectorStore();
    const { embedder, inStep, stored, warnings } = started({ vectors, batch: 1 });
    let failures = 3;
    embedder.before = async () => {
      failures -= 1;
      if (failures >= 0) throw new ThroughlineError('unavailable', 'no model');
    };
    const put = vectors.put.bind(vectors);
    vectors.put = async (...args) => {
      vectors.put = put;
      throw new ThroughlineError('unavailable', `no store for ${args[1]}`);
    };
    await inStep(mapOf(learningOf(1), learningOf(2)));
    expect((await stored()).size).toBe(2);
    expect(warnings.map(({ fields }) => fields)).toEqual([
      ...Array.from({ length: 3 }, () =>
        expect.objectContaining({ err: expect.objectContaining({ message: 'no model' }) }),
      ),
      expect.objectContaining({
        err: expect.objectContaining({ message: expect.stringContaining('no store') }),
      }),
    ]);
  });

  it('the vectorizer pauses longer with each failure, up to a bound', async () => {
    const { embedder, inStep, warnings } = started({ pauseMs: 4, maxPauseMs: 10, random: () => 1 });
    let failures = 4;
    embedder.before = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('no model');
    };
    await inStep(mapOf(learningOf(1)));
    expect(warnings.map(({ fields }) => fields)).toMatchObject(
      [4, 8, 10, 10].map((retryInMs) => ({ retryInMs })),
    );
  });

  it('the vectorizer has one run for each project at a time, and looks at what came meanwhile', async () => {
    const { vectoriser, embedder, stored } = started();
    let [now, most] = [0, 0];
    embedder.before = async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
    };
    for (let n = 1; n <= 5; n += 1) {
      vectoriser.sync(project, mapOf(...Array.from({ length: n }, (_, i) => learningOf(i + 1))));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await vectoriser.idle(project);
    expect(most).toBe(1);
    expect((await stored()).size).toBe(5);
  });

  it('the vectorizer returns at once, and never fails its caller', async () => {
    const { vectoriser, embedder } = started();
    embedder.before = () => Promise.reject(new Error('no model'));
    expect(vectoriser.sync(project, mapOf(learningOf(1)))).toBeUndefined();
    expect(embedder.calls).toEqual([]);
  });

  it('the vectorizer stops in a long pause, and in a call that hangs', async () => {
    const pausing = started({ pauseMs: 3_600_000, maxPauseMs: 3_600_000 });
    pausing.embedder.before = () => Promise.reject(new Error('no model'));
    const hanging = started();
    hanging.embedder.before = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    for (const { vectoriser } of [pausing, hanging]) vectoriser.sync(project, mapOf(learningOf(1)));
    await expect.poll(() => pausing.warnings.length).toBe(1);
    await expect.poll(() => hanging.embedder.calls.length).toBe(1);
    await pausing.vectoriser.stop();
    await hanging.vectoriser.stop();
    expect(hanging.warnings).toEqual([]);
    hanging.vectoriser.sync(project, mapOf(learningOf(2)));
    await hanging.vectoriser.idle(project);
    expect(hanging.embedder.calls).toHaveLength(1);
  });

  it('the vectorizer leaves out what has no text, or an id that no key can have', async () => {
    const { inStep, stored, warnings } = started();
    await inStep(mapOf(learningOf(1), learningOf(2, '  '), { ...learningOf(3), id: 'a.b' }));
    expect([...(await stored()).keys()]).toEqual([learningId(1)]);
    expect(warnings).toEqual([]);
  });

  describe('meets a text that the embedder refuses, and', () => {
    /** Rejects all calls that contain one of these texts. */
    const refusing =
      (...refused: string[]): ScriptedEmbedder['before'] =>
      async (texts) => {
        if (texts.some((text) => refused.includes(text))) throw new TextsRefusedError('answered 400: no');
      };
    const some = (count: number) => Array.from({ length: count }, (_, n) => learningOf(n + 1));

    it('the vectorizer computes all other vectors when the embedder refuses a text, and names that text', async () => {
      const { embedder, inStep, stored, warnings } = started({ batch: 8 });
      const bad = [1, 13, 14];
      const learnings = some(20).map((learning, index) =>
        bad.includes(index + 1) ? learningOf(index + 1, `no ${index + 1}`) : learning,
      );
      embedder.before = refusing(...bad.map((n) => `no ${n}`));
      await inStep(mapOf(...learnings));
      const others = learnings.filter((_, index) => !bad.includes(index + 1));
      expect(await stored()).toEqual(new Map(others.map((each) => [each.id, vectorOf(each)])));
      expect(warnings.map(({ fields }) => fields)).toEqual(
        bad.map((n) =>
          expect.objectContaining({
            project,
            learning: learningId(n),
            err: expect.objectContaining({ message: 'answered 400: no' }),
          }),
        ),
      );
    });

    it('the vectorizer asks for a refused text again when it reads differently, and when the model was exchanged', async () => {
      const { vectoriser, embedder, inStep, stored } = started();
      embedder.before = refusing('no');
      await inStep(mapOf(learningOf(1), learningOf(2, 'no')));
      await inStep(mapOf(learningOf(1), learningOf(2, 'well')));
      expect((await stored()).get(learningId(2))).toEqual(vectorOf(learningOf(2, 'well')));

      await inStep(mapOf(learningOf(1), learningOf(3, 'no')));
      embedder.before = async () => {};
      embedder.dimension = 32;
      vectoriser.exchanged(32);
      await inStep(mapOf(learningOf(1), learningOf(3, 'no')));
      expect((await stored()).get(learningId(3))).toEqual(vectorOf(learningOf(3, 'no'), 32));
    });

    it('the vectorizer asks for texts that were refused for a moment with the next change', async () => {
      const { embedder, inStep, stored, warnings } = started();
      embedder.before = async () => {
        throw new TextsRefusedError('answered 400: no model is loaded');
      };
      await inStep(mapOf(...some(3)));
      expect((await stored()).size).toBe(0);
      expect(warnings).toHaveLength(3);
      embedder.before = async () => {};
      await inStep(mapOf(...some(4)));
      expect((await stored()).size).toBe(4);
    });

    it('the vectorizer computes the one text that is taken when the texts before it are all refused', async () => {
      const { embedder, inStep, stored } = started();
      const refused = Array.from({ length: 20 }, (_, n) => learningOf(n + 1, `no ${n + 1}`));
      embedder.before = refusing(...refused.map(({ content }) => content));
      await inStep(mapOf(...refused, learningOf(21)));
      expect([...(await stored()).keys()]).toEqual([learningId(21)]);
    });

    it('the vectorizer keeps no text from its vector when the first one taken is refused after the model was exchanged', async () => {
      const { vectoriser, embedder, inStep, stored } = started();
      await inStep(mapOf(...some(3)));
      embedder.before = refusing(learningOf(1).content);
      embedder.dimension = 32;
      vectoriser.exchanged(32);
      await inStep(mapOf(...some(4)));
      const lengths = [2, 3, 4].map(async (n) => (await stored()).get(learningId(n))?.vector.length);
      expect(await Promise.all(lengths)).toEqual([32, 32, 32]);
    });
  });

  it('the vectorizer ends with a vector of every learning in force after any changes', async () => {
    await fc.assert(
      fc.asyncProperty(someHistory, fc.integer({ min: 1, max: 4 }), async (history, batch) => {
        const { inStep, stored } = started({ batch });
        for (const learnings of history) {
          await inStep(learnings);
          const kept = await stored();
          for (const [id, learning] of learnings) {
            if (learning.content === '') continue;
            expect(kept.get(learningId(Number.parseInt(id, 16)))).toEqual(vectorOf(learning));
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});
