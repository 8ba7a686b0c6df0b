import { createInterface, emitKeypressEvents, type Key } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { visibleInColour } from '../../shared/terminal-text.js';
import { oneLine } from '../../shared/text.js';
import type { ReviewTerminal } from './run-review.js';

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** A terminal in raw mode, in which each key counts at once; closing it restores it. */
interface OpenTerminal extends ReviewTerminal {
  close(): void;
}

/** Takes the terminal over. Ctrl-C and signals end up in `interrupted`. */
export function openTerminal(input: ReadStream, output: WriteStream): OpenTerminal {
  let waiting: ((key: string) => void) | undefined;
  let interrupt: (exitCode: number) => void = () => {};
  const interrupted = new Promise<number>((resolve) => {
    interrupt = resolve;
  });
  const editors = new AbortController();
  const onKey = (text: string | undefined, key: Key) => {
    if (key.ctrl && key.name === 'c') return interrupt(SIGNALS.SIGINT);
    const give = waiting;
    waiting = undefined;
    give?.(text ?? key.sequence ?? '');
  };
  const onSignal = (_: NodeJS.Signals, number: number) => interrupt(128 + number);
  const onEnd = () => interrupt(SIGNALS.SIGHUP);
  const raw = (on: boolean) => {
    input.setRawMode(on);
    if (on) input.resume();
    else input.pause();
  };

  emitKeypressEvents(input);
  input.on('keypress', onKey).on('end', onEnd).on('error', onEnd);
  output.on('error', onEnd);
  for (const signal of Object.keys(SIGNALS)) process.on(signal, onSignal);
  raw(true);
  return {
    interrupted,
    write: (text) => {
      output.write(visibleInColour(text));
    },
    key: async () => {
      const key = await new Promise<string>((resolve) => {
        waiting = resolve;
      });
      output.write(`${oneLine(key)}\n`);
      return key;
    },
    edit: async (text) => {
      // An editor of its own reads the same keys, and pauses the terminal when it closes.
      const editor = createInterface({ input, output, terminal: true });
      try {
        return await new Promise<string | undefined>((resolve) => {
          editor.once('close', () => resolve(undefined)).once('SIGINT', () => interrupt(SIGNALS.SIGINT));
          editors.signal.addEventListener('abort', () => editor.close(), { once: true });
          editor.question('  text (empty: as it was): ', resolve);
          editor.write(oneLine(text));
        });
      } finally {
        editor.close();
        if (!editors.signal.aborted) raw(true);
      }
    },
    close: () => {
      editors.abort();
      for (const signal of Object.keys(SIGNALS)) process.off(signal, onSignal);
      input.off('keypress', onKey).off('end', onEnd);
      raw(false);
    },
  };
}
