import { note } from './output.js';

/** Says once, on standard error, that a command waits, why, and for how long it will. */
export function waitingNote(leftMs: () => number): (failure: Error) => void {
  let told = false;
  return ({ message }) => {
    if (told) return;
    told = true;
    const until = new Date(Date.now() + leftMs()).toTimeString().slice(0, 8);
    note(`-- no answer yet, trying again until ${until}: ${message}`);
  };
}
