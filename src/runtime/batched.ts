/**
 * Lets requests share runs of the same work: at most one runs at a time, and what is asked for meanwhile is in the next
 * run, so every run begins after its requests were made.
 */
export function batched<Request, Answer>(
  run: (requests: readonly Request[]) => Promise<Answer>,
): (request: Request) => Promise<Answer> {
  let waiting: { readonly requests: Request[]; readonly answer: Promise<Answer> } | undefined;
  let running: Promise<unknown> = Promise.resolve();
  return (request) => {
    if (waiting === undefined) {
      const requests: Request[] = [];
      const answer = running.then(() => {
        waiting = undefined;
        return run(requests);
      });
      running = answer.catch(() => undefined);
      waiting = { requests, answer };
    }
    waiting.requests.push(request);
    return waiting.answer;
  };
}
