/** Packs what is built into a folder; the path of the tarball. */
export function packedInto(folder: string): Promise<string>;

/** The Node.js of a version such as `22`, as the path of its program: this one, or the one that npm has. */
export function nodeOf(version: string | undefined, folder: string): Promise<string>;

/** Installs a tarball globally with a Node.js and runs the quick start; throws what is not as the README says. */
export function checkInstall(
  node: string,
  tarball: string,
  folder: string,
): Promise<{
  /** Such as `v22.23.3`. */
  readonly version: string;
  readonly installSeconds: number;
  readonly startSeconds: number;
  readonly megabytes: number;
}>;
