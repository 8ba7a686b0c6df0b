/// <reference lib="esnext.disposable" preserve="true" />

/**
 * Names that our types and those of `nats` and `zod` use. A program that is compiled without the DOM, or with the types of an
 * older Node, does not have them all; where they are known, these empty declarations add nothing to them. Entry points
 * import this file, so that their types compile in any program.
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
