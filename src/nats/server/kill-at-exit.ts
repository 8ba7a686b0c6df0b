/**
 * Servers run in sessions of their own, so nothing ends them when this process ends by `process.exit` or by an uncaught
 * fault. This does: as long as a server is registered, its kill function runs at exit.
 */
const kills = new Set<() => void>();

function killAll(): void {
  for (const kill of kills) kill();
}

/** Registers a synchronous kill function; call the answer once the server has ended. */
export function killAtExit(kill: () => void): () => void {
  // One listener however many servers there are, and none when there is no server.
  if (kills.size === 0) process.on('exit', killAll);
  kills.add(kill);
  return () => {
    kills.delete(kill);
    if (kills.size === 0) process.off('exit', killAll);
  };
}
