import { createHash, type KeyObject, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import Provider, { type Configuration, type JWK } from "oidc-provider";
import { vi } from "vitest";
import * as z from "zod";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { everyScope } from "./scopes.ts";
import { ellipticKey, rsaKey } from "./signed.ts";

/** The name of our service among those the provider issues tokens for. */
const ourResource = "urn:network-capabilities";

/** Where the browser of a person who has signed in is sent; nobody listens there. */
const redirectUri = "https://app.example/signed-in";

/** The claim in which the provider names the subscription of a person. */
export const subscriptionClaim = "https://operator.example/claims/subscription";

const secretOf = (client: string) => `secret of ${client}, which is long enough`;
const ttlSeconds = 3 * 86_400;

/** An authorization server of an operator, on this machine: a certified OpenID provider with everything real. */
export type OidcProvider = Awaited<ReturnType<typeof openOidcProvider>>;

/**
 * Starts a provider on a free port of the loopback address. It knows the application `maps`, which asks for itself, and
 * the application `wallet`, which people sign in to.
 * @param subscriptions of people by their names; a person who is not among them has none.
 */
export async function openOidcProvider(subscriptions: Readonly<Record<string, string>>) {
  let handle: RequestListener = () => {};
  const server = createServer((request, response) => handle(request, response));
  const { url: issuer, close } = await listen(server, 0);

  // It warns that what it remembers is lost with it.
  const warnings = vi.spyOn(console, "warn").mockImplementation(() => {});
  const provider = new Provider(issuer, configurationOf(subscriptions));
  warnings.mockRestore();
  const answer = provider.callback();
  handle = (request, response) => {
    if (request.url?.startsWith("/interaction/")) void interact(provider, request, response);
    else void answer(request, response);
  };

  return {
    issuer,
    /** What an operator is told to look up: the provider's own metadata. */
    discover: async () => {
      const response = await fetch(`${issuer}/.well-known/openid-configuration`);
      return z.object({ issuer: z.string(), jwks_uri: z.string() }).parse(await response.json());
    },
    /** A token of `maps` for itself (client credentials, signed with RS256); opaque unless it is for our service. */
    tokenOfApplication: async (scope: string, { isForUs = true } = {}) => {
      const resource = isForUs ? { resource: ourResource } : {};
      const form = { grant_type: "client_credentials", scope, ...resource };
      return (await tokens(issuer, "maps", form)).access_token;
    },
    /** Tokens of a person who signs in to `wallet` and agrees (authorization code with PKCE, ES256). */
    tokensOfPerson: async (person: string, scope: string) => {
      const verifier = randomBytes(32).toString("base64url");
      const code = await codeOf(issuer, person, scope, verifier);
      const form = { grant_type: "authorization_code", code, code_verifier: verifier };
      return await tokens(issuer, "wallet", { ...form, redirect_uri: redirectUri, resource: ourResource });
    },
    close,
  };
}

function configurationOf(subscriptions: Readonly<Record<string, string>>): Configuration {
  return {
    clients: [
      {
        client_id: "maps",
        client_secret: secretOf("maps"),
        grant_types: ["client_credentials"],
        response_types: [],
        redirect_uris: [],
      },
      {
        client_id: "wallet",
        client_secret: secretOf("wallet"),
        grant_types: ["authorization_code"],
        response_types: ["code"],
        redirect_uris: [redirectUri],
      },
    ],
    jwks: { keys: [privateJwkOf(rsaKey()), privateJwkOf(ellipticKey())] },
    cookies: { keys: ["the provider's own"] },
    ttl: {
      AccessToken: ttlSeconds,
      IdToken: 600,
      ClientCredentials: ttlSeconds,
      Grant: 600,
      Interaction: 600,
      Session: 600,
    },
    pkce: { required: () => true },
    findAccount: async (_, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    extraTokenClaims: async (_, token) => {
      const subscription = token.kind === "AccessToken" ? subscriptions[token.accountId] : undefined;
      return subscription === undefined ? undefined : { [subscriptionClaim]: subscription };
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_, __, client) => ({
          scope: everyScope.join(" "),
          audience: "network-capabilities",
          accessTokenTTL: ttlSeconds,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: client.clientId === "wallet" ? "ES256" : "RS256" } },
        }),
      },
    },
  };
}

function privateJwkOf({ kid, privateKey }: { readonly kid: string; readonly privateKey: KeyObject }): JWK {
  return {
    ...z.looseObject({ kty: z.string() }).parse(privateKey.export({ format: "jwk" })),
    kid,
    use: "sig",
  };
}

/** Answers what the provider asks a person: who it is, and whether it agrees. It does. */
async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  const asked = z
    .object({
      client_id: z.string(),
      scope: z.string(),
      resource: z.string().optional(),
      login_hint: z.string(),
    })
    .parse(params);
  if (prompt.name === "login") {
    const result = { login: { accountId: asked.login_hint } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    return;
  }
  const grant = new provider.Grant({ accountId: session?.accountId ?? "", clientId: asked.client_id });
  grant.addOIDCScope(asked.scope);
  if (asked.resource !== undefined) grant.addResourceScope(asked.resource, asked.scope);
  const result = { consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

/** Goes through the provider's pages as a browser does, up to the code. */
async function codeOf(issuer: string, person: string, scope: string, verifier: string): Promise<string> {
  const query = new URLSearchParams({
    client_id: "wallet",
    response_type: "code",
    redirect_uri: redirectUri,
    scope,
    resource: ourResource,
    login_hint: person,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const cookies = new Map<string, string>();
  let address = `${issuer}/auth?${query}`;
  while (!address.startsWith(redirectUri)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(address, { headers: { cookie }, redirect: "manual" });
    const to = response.headers.get("location");
    if (to === null)
      throw new Error(`the provider shows a page: ${response.status} ${await response.text()}`);
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    address = new URL(to, address).href;
  }
  const code = new URL(address).searchParams.get("code");
  if (code === null) throw new Error(`the provider refuses: ${address}`);
  return code;
}

const tokenAnswer = z.object({ access_token: z.string(), id_token: z.string().optional() });

async function tokens(
  issuer: string,
  client: string,
  form: Readonly<Record<string, string>>,
): Promise<z.output<typeof tokenAnswer>> {
  const credentials = [client, secretOf(client)].map(encodeURIComponent).join(":");
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(credentials).toString("base64")}`,
    },
    body: new URLSearchParams(form),
  });
  if (!response.ok) throw new Error(`the provider refuses: ${await response.text()}`);
  return tokenAnswer.parse(await response.json());
}
