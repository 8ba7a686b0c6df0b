import { isIP } from 'node:net';

/**
 * Which names a local HTTP server answers to. A foreign site can point a name of its own at this machine, and would then
 * pass for the server's own page in the browser.
 */
export interface KnownHosts {
  /** The names it has beside those of this machine, without a port. */
  readonly names: readonly string[];
  /** It listens to other machines: these may call it by its address, which no site can take. */
  readonly isOpen: boolean;
}

/** Returns the names of a server that listens on `host` and is reached under `names` as well. */
export function knownHosts(host: string, names: readonly string[] = []): KnownHosts {
  const all = [host, ...names].map((name) => name.toLowerCase());
  return { names: all, isOpen: !isLoopbackName(host) };
}

/** True if a Host header names the server. */
export function isKnownHost(header: string | undefined, { names, isOpen }: KnownHosts): boolean {
  const name = hostName(header);
  return name !== undefined && (isLoopbackName(name) || names.includes(name) || (isOpen && isIP(name) !== 0));
}

/** Returns the name or address of a Host header, in lower case and without its port. */
export function hostName(header: string | undefined): string | undefined {
  if (header === undefined || !URL.canParse(`http://${header}`)) return undefined;
  return new URL(`http://${header}`).hostname.replace(/^\[|\]$/g, '');
}

/** True for a name or an address of this very machine. */
function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name);
}

/** True for a loopback address, also as an IPv6 socket shows an IPv4 one. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}
