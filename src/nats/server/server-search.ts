/** Environment variables, passed in as data. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface FindOptions {
  readonly env: Environment;
  /** Cache of installed servers; see `cacheDirOf`. */
  readonly cacheDir: string;
  /** Same values as `process.platform` and `process.arch`. */
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** Called with one line before each slow step, and for each server that was found and not used. Default: nothing. */
  readonly progress?: ((line: string) => void) | undefined;
  /** Default: the pinned release on GitHub. */
  readonly releaseBaseUrl?: string | undefined;
  /** SHA-256 in hex by `<os>-<arch>`. Default: the pinned ones. */
  readonly releaseChecksums?: Readonly<Record<string, string>> | undefined;
}

export interface NatsServerSource {
  readonly path: string;
  /** `2.15.0` */
  readonly version: string;
  readonly foundBy: 'NATS_SERVER_BIN' | 'PATH' | 'cache' | 'go install' | 'release archive';
}

/** `reason` completes "<place>: …". */
export type Attempt = { readonly found: NatsServerSource } | { readonly reason: string };

/** A place to search. It returns a reason if it has nothing, and throws only if the search must end. */
export interface Place {
  readonly name: string;
  look(options: FindOptions): Promise<Attempt>;
}
