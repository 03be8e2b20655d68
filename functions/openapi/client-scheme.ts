/** The name of the scheme by which clients find the token endpoint: CAMARA's. */
export const clientScheme = "openId";

interface Operation {
  readonly security: readonly object[];
}

/** What says how callers prove who they are. */
export interface SecuredDocument {
  readonly components: { readonly securitySchemes: Readonly<Record<string, object>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** The document of a stage whose clients find the token endpoint by the metadata at an address. */
export function withClientScheme<Document extends SecuredDocument>(
  document: Document,
  openIdConnectUrl: string,
) {
  const { components } = document;
  const { securitySchemes } = components;
  const scheme = { ...securitySchemes[clientScheme], openIdConnectUrl };
  return {
    ...document,
    components: { ...components, securitySchemes: { ...securitySchemes, [clientScheme]: scheme } },
  };
}

/** The document of a stage without a token endpoint: no operation names one. */
export function withoutClientScheme<Document extends SecuredDocument>(document: Document) {
  const { components, paths } = document;
  const { [clientScheme]: _, ...securitySchemes } = components.securitySchemes;
  return {
    ...document,
    paths: mapValues(paths, (item) =>
      mapValues(item, (operation) => ({
        ...operation,
        security: operation.security.filter((requirement) => !(clientScheme in requirement)),
      })),
    ),
    components: { ...components, securitySchemes },
  };
}

function mapValues<Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
