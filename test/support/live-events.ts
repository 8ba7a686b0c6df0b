import { soon } from './soon.js';

/** One server-sent event, with the moment at which it came, as `performance.now()` gives it. */
export interface HeardEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly cameAt: number;
}

/** A browser's end of a live feed. */
export interface HeardFeed extends AsyncDisposable {
  readonly status: number;
  /** All that came so far. */
  readonly events: readonly HeardEvent[];
  /** Waits for an event of a kind, among those that came and those to come. */
  heard(event: string, fits?: (data: HeardEvent['data']) => boolean): Promise<HeardEvent>;
  /** Resolves when the server has ended it. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Reads a live feed until it is closed. */
export async function hearFeed(open: (init: RequestInit) => Promise<Response>): Promise<HeardFeed> {
  const closing = new AbortController();
  const response = await open({ signal: closing.signal });
  const events: HeardEvent[] = [];
  const ended = read(response, events).catch(() => {});
  const close = async () => {
    closing.abort();
    await ended;
  };
  return {
    status: response.status,
    events,
    heard: (event, fits = () => true) =>
      soon(() => {
        const found = events.find((each) => each.event === event && fits(each.data));
        if (found === undefined) throw new Error(`no event ${event} among ${events.length}`);
        return found;
      }),
    ended,
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function read(response: Response, events: HeardEvent[]): Promise<void> {
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event, data] = /^event: (.+)\ndata: (.+)$/.exec(block) ?? [];
      if (event !== undefined && data !== undefined)
        events.push({ event, data: JSON.parse(data), cameAt: performance.now() });
    }
  }
}
