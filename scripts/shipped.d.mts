export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  /** As SPDX names it; undefined where the package says none. */
  readonly licence: string | undefined;
  /** Whether npm installs it below ours. */
  readonly isInstalled: boolean;
  /** Which parts of ours hold a copy of it. */
  readonly copies: readonly ('command line' | 'inspector')[];
}

/** Every package that people get with ours: what npm installs below it, and what comes inside as a copy. */
export function shippedPackages(): ShippedPackage[];
