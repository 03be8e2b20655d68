import * as z from "zod";
import { areas } from "../../functions/areas.ts";
import { jwtBearer } from "../../functions/oauth2/rules.ts";
import { replaceClient } from "../../functions/oauth2/store.ts";
import { clientRecord, clients as table } from "../../functions/oauth2/tables.ts";
import { parseAllowedNetworks } from "../../shared/sinks/networks.ts";
import { isSink } from "../../shared/sinks/sink-url.ts";
import { recordFiles } from "./data-files.ts";
import { type ImportKind, storeEach } from "./import-file.ts";

const scopes = areas.flatMap((area) => Object.keys(area.scopes));

/** A service on this machine may fetch keys from this machine; any other refuses such an address when it fetches. */
const thisMachine = parseAllowedNetworks("127.0.0.1/32:1-65535,[::1]/128:1-65535") ?? [];

const schema = z.object(clientRecord.shape).superRefine((client, context) => {
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: "custom", path: [field], message });
  const { jwks, jwksUri, grants, purposes = [] } = client;
  if ((jwks === undefined) === (jwksUri === undefined))
    refuse("jwks", "either jwks or jwksUri must be there");
  if (jwksUri !== undefined && !isSink(jwksUri, thisMachine)) {
    refuse("jwksUri", "must be an https URL with a public host name");
  }
  const named = (jwks?.keys ?? []).flatMap(({ kid }) => kid ?? []);
  if (new Set(named).size < named.length) refuse("jwks", "two keys have the same kid");
  if (client.scopes.some((scope) => !scopes.includes(scope))) {
    refuse("scopes", `unknown scope: must be some of ${scopes.join(" ")}`);
  }
  if (grants.includes(jwtBearer) && purposes.length === 0) {
    refuse("purposes", `must name one or more: ${jwtBearer} needs a purpose`);
  }
});

/** The clients of the token endpoint. */
export const clients: ImportKind<typeof schema> = {
  file: recordFiles.clients,
  table,
  schema,
  identities: ({ clientId }) => [{ field: "clientId", value: clientId }],
  begin: () => ({ write: storeEach(replaceClient) }),
};
