type Schemas = Readonly<Record<string, unknown>>;

interface Discriminated {
  readonly discriminator: {
    readonly propertyName: string;
    readonly mapping: Readonly<Record<string, string>>;
  };
}

/**
 * Schemas whose discriminators are conditions, which validators of JSON Schema understand: a value with this text in
 * the member must be as the schema that the mapping names for it.
 */
export function conditionsForDiscriminators(schemas: Schemas): Schemas {
  const discriminated = Object.entries(schemas).filter((entry): entry is [string, Discriminated] =>
    hasMapping(entry[1]),
  );
  const withConditions = { ...schemas };
  for (const [name, { discriminator, ...own }] of discriminated) {
    const { propertyName, mapping } = discriminator;
    const conditions = Object.entries(mapping).map(([value, $ref]) => ({
      if: { not: { properties: { [propertyName]: { const: value } }, required: [propertyName] } },
      else: { $ref },
    }));
    withConditions[ownName(name)] = own;
    withConditions[name] = { allOf: [{ $ref: `#/components/schemas/${ownName(name)}` }, ...conditions] };
    // What extends the schema has its members alone: with its conditions, both would include each other for ever.
    for (const extension of Object.values(mapping).map((reference) => reference.split("/").at(-1) ?? "")) {
      withConditions[extension] = withoutConditions(withConditions[extension], name);
    }
  }
  return withConditions;
}

function hasMapping(schema: unknown): schema is Discriminated {
  return (schema as Partial<Discriminated> | undefined)?.discriminator?.mapping !== undefined;
}

function withoutConditions(schema: unknown, base: string): unknown {
  const text = JSON.stringify(schema ?? {});
  const reference = JSON.stringify(`#/components/schemas/${base}`);
  return JSON.parse(text.replaceAll(reference, JSON.stringify(`#/components/schemas/${ownName(base)}`)));
}

function ownName(name: string): string {
  return `${name}.own`;
}
