/**
 * Servers run in their own sessions, so nothing ends them when this process ends by `process.exit` or an uncaught error. The
 * registered kill functions run at exit.
 */
const kills = new Set<() => void>();

function killAll(): void {
  for (const kill of kills) kill();
}

/** Registers a synchronous kill function; call the returned function once the server has ended. */
export function killAtExit(kill: () => void): () => void {
  // One listener for all servers, and none without servers.
  if (kills.size === 0) process.on('exit', killAll);
  kills.add(kill);
  return () => {
    kills.delete(kill);
    if (kills.size === 0) process.off('exit', killAll);
  };
}
