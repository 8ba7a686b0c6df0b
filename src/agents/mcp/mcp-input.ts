import { Transform, type TransformCallback } from 'node:stream';
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createMcpServer } from './mcp-server.js';
import type { Memory } from './mcp-tools.js';

/** Serves standard input and output; `failed` is called for messages that cannot be read. */
export function serveMcpInput(memory: Memory, failed: (error: Error) => void): { close(): Promise<void> } {
  const lines = new BoundedLines(({ bytes, id }) => {
    const message = `a message of ${bytes} bytes is larger than the limit of ${MAX_LINE}: shorten it, and name files in place of their content`;
    failed(new Error(message));
    const error = { code: ProtocolErrorCode.InvalidRequest, message };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
  });
  const transport = new StdioServerTransport(process.stdin.pipe(lines), process.stdout);
  return serveStdio(() => createMcpServer(memory), { transport, onerror: failed });
}

/** Length limit of a line, in bytes. A result, the longest message of a client, has at most a few megabytes as JSON. */
export const MAX_LINE = 8 * 1024 * 1024;
/** Length of both ends of a dropped line that are searched for its request id, in bytes. */
const SHOWN = 4096;
const NEWLINE = 0x0a;

interface LeftOut {
  readonly bytes: number;
  /** Id of the request; `null` if it cannot be read. */
  readonly id: string | number | null;
}

/** Passes on complete lines, and drops longer ones than the limit, which would end the protocol's own reader. */
class BoundedLines extends Transform {
  readonly #leftOut: (line: LeftOut) => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  #head = '';
  #tail: Buffer = Buffer.alloc(0);

  /** @param leftOut is called at the end of each dropped line */
  constructor(leftOut: (line: LeftOut) => void) {
    super();
    this.#leftOut = leftOut;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    for (let from = 0; from < chunk.length; ) {
      const ends = chunk.indexOf(NEWLINE, from) + 1;
      const part = chunk.subarray(from, ends === 0 ? chunk.length : ends);
      this.#take(part);
      if (ends > 0) this.#ended();
      from += part.length;
    }
    done();
  }

  #take(part: Buffer): void {
    this.#bytes += part.length;
    this.#parts.push(part);
    if (this.#bytes <= MAX_LINE) return;
    if (this.#head === '') this.#head = Buffer.concat(this.#parts).toString('utf8', 0, SHOWN);
    this.#tail = Buffer.concat([this.#tail, ...this.#parts]).subarray(-SHOWN);
    this.#parts = [];
  }

  #ended(): void {
    if (this.#bytes <= MAX_LINE) this.push(Buffer.concat(this.#parts));
    else this.#leftOut({ bytes: this.#bytes, id: requestId(this.#head, this.#tail.toString('utf8')) });
    this.#parts = [];
    this.#bytes = 0;
    this.#head = '';
    this.#tail = Buffer.alloc(0);
  }
}

const ID = String.raw`"id"\s{0,9}:\s{0,9}(\d{1,15}|"[^"\\]{1,200}")`;
const OTHER = String.raw`"(?:jsonrpc|method)"\s{0,9}:\s{0,9}"[^"\\]{0,100}"`;
/** Match only at the start and the end of a line, because a value in between may have an `id` of its own. */
const FIRST = new RegExp(String.raw`^\s{0,9}\{\s{0,9}(?:${OTHER}\s{0,9},\s{0,9}){0,2}${ID}`);
const LAST = new RegExp(String.raw`${ID}(?:\s{0,9},\s{0,9}${OTHER}){0,2}\s{0,9}\}\s{0,9}$`);

function requestId(head: string, tail: string): string | number | null {
  const text = (FIRST.exec(head) ?? LAST.exec(tail))?.[1];
  return text === undefined ? null : JSON.parse(text);
}
