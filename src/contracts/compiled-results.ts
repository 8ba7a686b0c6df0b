import { compile } from 'zod';
import type { ResultSchemas } from './dispatch-body.js';
import { implementerResult, reviewerResult } from './results.js';

let implementer: typeof implementerResult | undefined;
let reviewer: typeof reviewerResult | undefined;

/** Compiled with the first body, which takes some milliseconds: worth it for all but a few bodies. */
export const COMPILED_RESULTS: ResultSchemas = {
  implementer() {
    implementer ??= compile(implementerResult);
    return implementer;
  },
  reviewer() {
    reviewer ??= compile(reviewerResult);
    return reviewer;
  },
};
