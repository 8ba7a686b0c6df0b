/// <reference lib="esnext.disposable" preserve="true" />

/**
 * Names used by our types and those of `nats` and `zod`. A program compiled without the DOM, or with the types of an
 * older Node, lacks some; elsewhere these empty declarations add nothing. Entry points import this file, so that their
 * types compile in any program.
 */
declare global {
  interface AbortSignal {}
  interface URL {}
  interface TextEncoder {}
  interface TextDecoder {}
  // biome-ignore lint/suspicious/noExplicitAny: declarations of one interface must agree, and the DOM has it so
  interface ReadableStream<R = any> {}
}

export {};
