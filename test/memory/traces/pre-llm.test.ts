import { describe, expect, it, vi } from 'vitest';
import {
  HookEngine,
  PreCompactHook,
  type PreLlmOptions,
  type PreparedPrompt,
  preparePrompt,
  withPreLlmCompaction,
} from '../../../src/memory/traces/hook-engine.js';
import { fakeTimers } from '../../support/fake-timers.js';
import { all } from '../../support/streams.js';

/** Tasks T006 to T019 of the compaction document, by their numbers. */

const SYSTEM = 'You are an implementer.';
const SUMMARY = '[Compacted History]\nStands for 20 earlier entries of intent INT-1.';

type Engine = NonNullable<PreLlmOptions['hookEngine']>;

/** Everything that happens, in its order, around one decorated call. */
function scene(
  answer: (intentId: string | undefined) => Promise<string | null>,
  more: Partial<PreLlmOptions> = {},
) {
  const steps: string[] = [];
  const preLLMRequest = vi.fn<Engine['preLLMRequest']>((intentId) => {
    steps.push('hook');
    return answer(intentId);
  });
  const createMessage = vi.fn(async (system: string, _question: string) => {
    steps.push('model');
    return `answer to ${system.length}`;
  });
  const error = vi.fn<PreLlmOptions['logger']['error']>();
  const options: PreLlmOptions = {
    hookEngine: { preLLMRequest },
    activeIntentId: 'INT-1',
    logger: { error },
    session: 'demo',
    taskId: () => '7',
    ...more,
  };
  const call = withPreLlmCompaction(createMessage, options);
  return { call, steps, preLLMRequest, createMessage, error, options };
}

/** The system prompt that the model got; strings have no identity, so `toBe` is `===`. */
const systemOf = ({ createMessage }: ReturnType<typeof scene>) => createMessage.mock.calls[0]?.[0];

describe('user story 1: a long-running intent', () => {
  it('T006 the prepared prompt keeps the original beside the effective one', async () => {
    const prepared: PreparedPrompt[] = [];
    const one = scene(async () => SUMMARY, { onPrepared: (each) => prepared.push(each) });
    await one.call(SYSTEM, 'go on');
    expect(prepared).toEqual([{ original: SYSTEM, effective: `${SUMMARY}\n\n${SYSTEM}`, summary: SUMMARY }]);
    expect(await preparePrompt(SYSTEM, one.options)).toEqual(prepared[0]);
  });

  it('T008 the wrapper calls the model with the effective prompt, and passes everything else on', async () => {
    const one = scene(async () => SUMMARY);
    const effective = `${SUMMARY}\n\n${SYSTEM}`;
    expect(await one.call(SYSTEM, 'go on')).toBe(`answer to ${effective.length}`);
    expect(one.createMessage.mock.calls).toEqual([[effective, 'go on']]);
  });

  it('T009 the wrapper asks the hook exactly once, before the model, with the active intent', async () => {
    const one = scene(async () => SUMMARY);
    await one.call(SYSTEM, 'go on');
    expect(one.steps).toEqual(['hook', 'model']);
    expect(one.preLLMRequest.mock.calls).toEqual([['INT-1']]);
  });

  it('T009 the wrapper learns the active intent again at each call', async () => {
    const intents = ['INT-1', 'INT-2'];
    const one = scene(async () => null, { activeIntentId: () => intents.shift() });
    await one.call(SYSTEM, 'a');
    await one.call(SYSTEM, 'b');
    expect(one.preLLMRequest.mock.calls).toEqual([['INT-1'], ['INT-2']]);
  });
});

describe('user story 2: a short intent', () => {
  it.each([
    ['T011 null', null],
    ['T012 an empty text', ''],
  ])('%s from the hook leaves the very same prompt', async (_name, nothing) => {
    const prepared: PreparedPrompt[] = [];
    const one = scene(async () => nothing, { onPrepared: (each) => prepared.push(each) });
    await one.call(SYSTEM, 'go on');
    expect(systemOf(one)).toBe(SYSTEM);
    expect(prepared).toEqual([{ original: SYSTEM, effective: SYSTEM, summary: null }]);
    expect(one.error).not.toHaveBeenCalled();
  });
});

describe('user story 3: no active intent', () => {
  it('T013 the wrapper without an active intent asks the engine with undefined, gets null, and leaves the prompt', async () => {
    const hook = vi.fn(async () => SUMMARY);
    const engine = new HookEngine().registerPreLLM(hook);
    const asked = vi.spyOn(engine, 'preLLMRequest');
    const one = scene(async () => SUMMARY, { hookEngine: engine, activeIntentId: undefined });
    await one.call(SYSTEM, 'go on');
    expect(asked.mock.calls).toEqual([[undefined]]);
    expect(await asked.mock.results[0]?.value).toBeNull();
    expect(hook).not.toHaveBeenCalled();
    expect(systemOf(one)).toBe(SYSTEM);
    expect(one.error).not.toHaveBeenCalled();
  });
});

describe('user story 4: errors', () => {
  const failures: [string, (fault: unknown) => Promise<string | null>][] = [
    ['rejects', (fault) => Promise.reject(fault)],
    [
      'throws at once',
      (fault) => {
        throw fault;
      },
    ],
  ];

  it.each(failures)(
    'T014 and T015 the wrapper logs a hook that %s, and still calls the model',
    async (_how, fail) => {
      const fault = new Error('store gone');
      const one = scene(() => fail(fault));
      await expect(one.call(SYSTEM, 'go on')).resolves.toContain('answer');
      expect(systemOf(one)).toBe(SYSTEM);
      expect(one.createMessage).toHaveBeenCalledTimes(1);
      expect(one.error.mock.calls).toEqual([
        [
          { session: 'demo', task: '7', intentId: 'INT-1', err: fault, stack: fault.stack },
          expect.any(String),
        ],
      ]);
      expect(fault.stack).toContain('pre-llm.test');
    },
  );

  it('T015 the wrapper takes a thrown value that is not an Error', async () => {
    const one = scene(() => Promise.reject('just a text'));
    await one.call(SYSTEM, 'go on');
    expect(systemOf(one)).toBe(SYSTEM);
    expect(one.error.mock.calls[0]?.[0]).toMatchObject({ err: 'just a text', stack: undefined });
  });

  it('T015 the wrapper takes an intent that cannot be learnt', async () => {
    const activeIntentId = () => {
      throw new Error('no agent');
    };
    const one = scene(async () => SUMMARY, { activeIntentId });
    await one.call(SYSTEM, 'go on');
    expect(systemOf(one)).toBe(SYSTEM);
    expect(one.error.mock.calls[0]?.[0]).toMatchObject({ session: 'demo', intentId: undefined });
  });

  it('T015 the wrapper calls the model though logger and onPrepared throw as well', async () => {
    const throws = () => {
      throw new Error('disk full');
    };
    const one = scene(() => Promise.reject(new Error('store gone')), {
      logger: { error: throws },
      onPrepared: throws,
    });
    await expect(one.call(SYSTEM, 'go on')).resolves.toContain('answer');
    expect(one.createMessage).toHaveBeenCalledTimes(1);
  });

  it.each([undefined, null])(
    'T016 the wrapper leaves the prompt without a hook engine: %s',
    async (hookEngine) => {
      const prepared: PreparedPrompt[] = [];
      const activeIntentId = vi.fn(() => 'INT-1');
      const onPrepared = (each: PreparedPrompt) => prepared.push(each);
      const one = scene(async () => SUMMARY, { hookEngine, activeIntentId, onPrepared });
      await one.call(SYSTEM, 'go on');
      expect(systemOf(one)).toBe(SYSTEM);
      expect(prepared).toEqual([{ original: SYSTEM, effective: SYSTEM, summary: null }]);
      expect(activeIntentId).not.toHaveBeenCalled();
      expect(one.error).not.toHaveBeenCalled();
    },
  );
});

describe('a hook that hangs', () => {
  fakeTimers();

  it.each([
    ['2000 ms by default', undefined, 2000],
    ['what is asked for', 50, 50],
  ])(
    'a hook that hangs is given %s, then logged, and the model is called',
    async (_name, deadlineMs, waited) => {
      const hang = () => new Promise<null>(() => {});
      const one = scene(hang, deadlineMs === undefined ? {} : { deadlineMs });
      const answered = one.call(SYSTEM, 'go on');
      await vi.advanceTimersByTimeAsync(waited - 1);
      expect(one.createMessage).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      await expect(answered).resolves.toContain('answer');
      expect(systemOf(one)).toBe(SYSTEM);
      const [fields] = one.error.mock.calls[0] ?? [];
      expect(fields).toMatchObject({
        session: 'demo',
        intentId: 'INT-1',
        err: { message: `no answer within ${waited} ms` },
        stack: expect.stringContaining(`${waited} ms`),
      });
    },
  );

  it('a hook that hangs changes nothing when it answers late, or fails late', async () => {
    // The run fails on an unhandled rejection.
    for (const late of [() => SUMMARY, () => Promise.reject(new Error('late'))]) {
      const one = scene(() => new Promise((resolve) => setTimeout(() => resolve(late()), 5000)));
      const answered = one.call(SYSTEM, 'go on');
      await vi.advanceTimersByTimeAsync(10_000);
      await answered;
      expect(one.createMessage.mock.calls).toEqual([[SYSTEM, 'go on']]);
      expect(one.error).toHaveBeenCalledTimes(1);
    }
  });

  it('a hook that answers in time leaves no timer behind', async () => {
    const one = scene(async () => SUMMARY);
    await one.call(SYSTEM, 'go on');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('T018: the model call itself', () => {
  it('T018 the model call is rejected with the model’s own error, and not tried again', async () => {
    const fault = new Error('overloaded');
    const createMessage = vi.fn(() => Promise.reject(fault));
    const { options, error } = scene(async () => SUMMARY);
    await expect(withPreLlmCompaction(createMessage, options)(SYSTEM)).rejects.toBe(fault);
    expect(createMessage).toHaveBeenCalledTimes(1);
    expect(error).not.toHaveBeenCalled();
  });

  it('T018 the model call gives its stream as it is, unread', async () => {
    let read = 0;
    async function* chunks(system: string) {
      for (const word of system.split(' ')) {
        read += 1;
        yield word;
      }
    }
    const stream = chunks('three short words');
    const { options } = scene(async () => SUMMARY);
    const given = await withPreLlmCompaction((_system: string) => stream, options)(SYSTEM);
    expect(given).toBe(stream);
    expect(read).toBe(0);
    expect(await all(given)).toEqual(['three', 'short', 'words']);
  });
});

describe('T018: HookEngine and PreCompactHook', () => {
  it('T018 the hook engine joins what several hooks give, in their order, and leaves out what is nothing', async () => {
    const asked: string[] = [];
    const gives = (name: string, text: string | null) => async (intentId: string) => {
      asked.push(`${name} ${intentId}`);
      return text;
    };
    const engine = new HookEngine()
      .registerPreLLM(gives('first', 'history'))
      .registerPreLLM(gives('second', null))
      .registerPreLLM(gives('third', ''))
      .registerPreLLM(gives('fourth', 'rules'));
    expect(await engine.preLLMRequest('INT-1')).toBe('history\n\nrules');
    expect(asked).toEqual(['first INT-1', 'second INT-1', 'third INT-1', 'fourth INT-1']);
  });

  it('T018 the hook engine gives null without hooks, and when none wants anything', async () => {
    expect(await new HookEngine().preLLMRequest('INT-1')).toBeNull();
    const engine = new HookEngine().registerPreLLM(async () => null).registerPreLLM(async () => '');
    expect(await engine.preLLMRequest('INT-1')).toBeNull();
  });

  it('T018 the hook engine compacts what its source gives for the intent, as a hook too', async () => {
    const compactedSummary = vi.fn(async (intentId: string) => (intentId === 'INT-1' ? SUMMARY : null));
    const compact = new PreCompactHook({ compactedSummary });
    expect(await compact.compact('INT-1')).toBe(SUMMARY);
    const engine = new HookEngine().registerPreLLM(compact.hook);
    expect(await engine.preLLMRequest('INT-1')).toBe(SUMMARY);
    expect(await engine.preLLMRequest('INT-2')).toBeNull();
    expect(compactedSummary.mock.calls).toEqual([['INT-1'], ['INT-1'], ['INT-2']]);
  });
});
