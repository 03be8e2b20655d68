/** What the document says of a stage with a token endpoint, and of one without. */
import { type ServedDocument, withoutUnused } from "./document.ts";

/** The name of the scheme by which clients find the token endpoint: CAMARA's. */
export const clientScheme = "openId";

/** The tag of the operations of OAuth 2: no API, and only where the stage has a token endpoint. */
const tokenTag = "oauth2";

/** The document of a stage whose clients find the token endpoint by the metadata at an address. */
export function withTokenEndpoint(document: ServedDocument, openIdConnectUrl: string): ServedDocument {
  const { components } = document;
  const { securitySchemes } = components;
  const scheme = { ...securitySchemes[clientScheme], openIdConnectUrl };
  return {
    ...document,
    components: { ...components, securitySchemes: { ...securitySchemes, [clientScheme]: scheme } },
  };
}

/** The document of a stage without a token endpoint: it has no such operation, and none names the scheme. */
export function withoutTokenEndpoint(document: ServedDocument): ServedDocument {
  const { components } = document;
  const { [clientScheme]: _, ...securitySchemes } = components.securitySchemes;
  const paths = mapValues(apiPaths(document), (item) =>
    mapValues(item, (operation) => ({
      ...operation,
      security: operation.security.filter((requirement) => !(clientScheme in requirement)),
    })),
  );
  const tags = document.tags.filter(({ name }) => name !== tokenTag);
  return withoutUnused({ ...document, tags, paths, components: { ...components, securitySchemes } });
}

/** The paths of the document without those of OAuth 2. */
export function apiPaths({ paths }: Pick<ServedDocument, "paths">): ServedDocument["paths"] {
  const ofApis = Object.entries(paths).filter(
    ([, item]) => !Object.values(item).some(({ tags }) => tags.includes(tokenTag)),
  );
  return Object.fromEntries(ofApis);
}

function mapValues<Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
