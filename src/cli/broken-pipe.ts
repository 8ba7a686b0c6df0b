/**
 * Lets the process outlive those who read what it writes: `head` that has seen enough, a terminal whose window was
 * closed. The rest of the output is lost, and the work continues to its end; any other fault is thrown as before.
 */
export function outliveReaders(streams: readonly NodeJS.WriteStream[]): void {
  for (const stream of streams) {
    stream.on('error', (fault: NodeJS.ErrnoException) => {
      const isGone = fault.code === 'EPIPE' || (fault.code === 'EIO' && stream.isTTY);
      if (!isGone) throw fault;
    });
  }
}
