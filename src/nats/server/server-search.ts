/** Environment variables, handed in as data: nothing in this folder reads the process's own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What a search for nats-server goes by. */
export interface FindOptions {
  readonly env: Environment;
  /** Where an installed server is kept between runs; see `cacheDirOf`. */
  readonly cacheDir: string;
  /** As `process.platform` and `process.arch` spell them. */
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /**
   * Gets one line before each slow step, and one for each server that was found and not used. Default:
   * nothing.
   */
  readonly progress?: ((line: string) => void) | undefined;
  /** Where release archives are downloaded from. Default: the pinned release on GitHub. */
  readonly releaseBaseUrl?: string | undefined;
  /** SHA-256 in hex by `<os>-<arch>`. Default: the pinned ones. */
  readonly releaseChecksums?: Readonly<Record<string, string>> | undefined;
}

/** A nats-server that `startNatsServer` can start. */
export interface NatsServerSource {
  /** Absolute. */
  readonly path: string;
  /** As in `2.15.0`. */
  readonly version: string;
  readonly foundBy: 'NATS_SERVER_BIN' | 'PATH' | 'cache' | 'go install' | 'release archive';
}

/** The outcome of one place of the search; `reason` completes "<place>: …". */
export type Attempt = { readonly found: NatsServerSource } | { readonly reason: string };

/**
 * One place to look in. It answers with a reason where it has nothing, and throws only when the search must
 * end.
 */
export interface Place {
  readonly name: string;
  look(options: FindOptions): Promise<Attempt>;
}
