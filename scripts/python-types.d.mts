type Requests = Readonly<Record<string, { readonly scope: string; readonly summary: string }>>;

/** The text of `types.py`, from JSON Schemas by their names, the fixes of errors by their codes, and the registry of requests. */
export function pythonTypes(
  schemaOf: (name: string) => object | undefined,
  fixes: Readonly<Record<string, string>>,
  requests: Requests,
): string;

/** The text of `methods.py`: a method for each request. */
export function pythonMethods(requests: Requests): string;
