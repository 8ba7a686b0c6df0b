/** What a version is published from. */
export interface ReleaseState {
  /** `package.json`. */
  readonly manifest: {
    readonly version: string;
    readonly repository?: string | { readonly url?: string };
    readonly publishConfig?: { readonly access?: string };
  };
  /** `server.json`. */
  readonly server: { readonly version: string; readonly packages: readonly { readonly version: string }[] };
  /** The text of `CHANGELOG.md`. */
  readonly changelog: string;
  /** Paths that are not as in the newest commit. */
  readonly changes: readonly string[];
  /** Tags of the newest commit. */
  readonly tags: readonly string[];
  /** The version of npm. */
  readonly tool: string;
}

/** Why a version cannot be published, each with what to do about it; none where everything agrees. */
export function releaseProblems(state: ReleaseState): string[];
