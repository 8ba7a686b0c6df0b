/** The Node.js of a version such as `22`, as the path of its program: this one, or the one that npm has. */
export function nodeOf(version: string | undefined, folder: string): Promise<string>;

/** Installs a tarball globally with a Node.js and runs the commands of the README; throws what is not as the README says. */
export function checkInstall(
  node: string,
  tarball: string,
  folder: string,
): Promise<{
  /** Such as `v22.23.3`. */
  readonly version: string;
  /** Of the demo by npx. */
  readonly demoSeconds: number;
  readonly installSeconds: number;
  readonly startSeconds: number;
  readonly megabytes: number;
}>;
