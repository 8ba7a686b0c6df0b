type Repository = string | { readonly type?: string; readonly url?: string } | undefined;

/** The page of a repository on the web, from `git+https://HOST/OWNER/NAME.git`; undefined for anything else. */
export function webAddress(repository: Repository): string | undefined;

/** A page of the repository as it is packed: relative links and images lead to the files of a tag. */
export function withAddresses(page: string, web: string, tag: string): string;

/** Packs what is built into a folder; the path of the tarball. Default repository: that of package.json. */
export function packedInto(folder: string, repository?: Repository): Promise<string>;
