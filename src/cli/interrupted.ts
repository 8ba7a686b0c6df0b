/** Ends a command that was interrupted, with the exit code that shells expect: 128 and the number of the signal. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('interrupted');
    this.name = 'Interrupted';
    this.exitCode = exitCode;
  }
}
