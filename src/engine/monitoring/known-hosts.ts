import { isIP } from 'node:net';

/**
 * The host names of a local HTTP server. A foreign site can resolve its own name to this machine (DNS rebinding), and would
 * then be same-origin with the server in the browser.
 */
export interface KnownHosts {
  /** Names besides those of this machine, without a port. */
  readonly names: readonly string[];
  /** True if it listens to other machines: these may use its IP address, which no site can rebind. */
  readonly isOpen: boolean;
}

export function knownHosts(host: string, names: readonly string[] = []): KnownHosts {
  const all = [host, ...names].map((name) => name.toLowerCase());
  return { names: all, isOpen: !isLoopbackName(host) };
}

export function isKnownHost(header: string | undefined, { names, isOpen }: KnownHosts): boolean {
  const name = hostName(header);
  return name !== undefined && (isLoopbackName(name) || names.includes(name) || (isOpen && isIP(name) !== 0));
}

/** Returns the host name or address of a Host header, lower-cased and without the port. */
export function hostName(header: string | undefined): string | undefined {
  if (header === undefined || !URL.canParse(`http://${header}`)) return undefined;
  return new URL(`http://${header}`).hostname.replace(/^\[|\]$/g, '');
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name);
}

/** True for a loopback address, including IPv4-mapped IPv6. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}
