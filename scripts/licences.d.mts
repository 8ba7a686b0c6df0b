/** The licence that a package brings. */
export function licenceText(name: string): Promise<string>;
