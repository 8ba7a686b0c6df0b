/** What the package consists of, in the format CycloneDX. */
export function componentsOfPackage(): Promise<{
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}>;

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly { readonly license: { readonly id: string } }[];
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
  readonly properties: readonly { readonly name: string; readonly value: string }[];
}
