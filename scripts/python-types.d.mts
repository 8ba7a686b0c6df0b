/** The text of the module `throughline.types`, from JSON Schemas by their names and from the fixes of errors by their codes. */
export function pythonTypes(
  schemaOf: (name: string) => object | undefined,
  fixes: Readonly<Record<string, string>>,
): string;
