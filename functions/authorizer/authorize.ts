import type { APIGatewayAuthorizerResult } from "aws-lambda";
import * as z from "zod/mini";
import { warmUp } from "../../shared/aws/warm-up.ts";
import { setting } from "../../shared/environment.ts";
import { pseudonymKeys } from "../../shared/pseudonym-keys/table.ts";
import { openSubscription } from "../../shared/tokens/sealed-subscription.ts";
import { publicKeys } from "../../shared/tokens/signing-keys.ts";
import { ownKeysCooldownSeconds } from "../../shared/tokens/token.ts";
import { ROUTES_BY_SCOPE } from "../../shared/variables/routes-by-scope.ts";
import { TOKEN_AUDIENCE } from "../../shared/variables/token-audience.ts";
import { TOKEN_ISSUER } from "../../shared/variables/token-issuer.ts";
import { TRUSTED_ISSUERS, type TrustedIssuer } from "../../shared/variables/trusted-issuers.ts";
import { fetchKeys, fetchTimeoutMilliseconds } from "./fetch-keys.ts";
import { KeySet } from "./key-set.ts";
import { policyFor, type RoutesByScope } from "./policy.ts";
import { callerOf, type Issuer, ownIssuer } from "./verify.ts";

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-input.html */
const tokenEvent = z.object({
  type: z.literal("TOKEN"),
  authorizationToken: z.string(),
  methodArn: z.string(),
});

/** Sent by the check of a release; API Gateway sends no event of this type. */
const selfTestEvent = z.object({ type: z.literal("SELF_TEST") });

const authorizerEvent = z.discriminatedUnion("type", [tokenEvent, selfTestEvent]);

const tableMilliseconds = 4_000;

await warmUp(pseudonymKeys, { use: "token-subjects" });

interface Configured {
  readonly issuers: readonly Issuer[];
  readonly routes: RoutesByScope;
}

let configured: Configured | undefined;

/**
 * The shared authorizer: a bearer token in, a policy and the caller out. A self-test loads the keys of every issuer and
 * returns nothing: a version that cannot load them would refuse callers whom the one before, with keys in memory,
 * accepts.
 *
 * API Gateway's contract: an error with exactly the message `Unauthorized` is 401, any other error is
 * AUTHORIZER_FAILURE, which the stack renders as 503: only reading keys can fail here.
 */
export async function handler(event: unknown): Promise<APIGatewayAuthorizerResult | undefined> {
  const parsed = authorizerEvent.parse(event);
  configured ??= { issuers: configuredIssuers(), routes: setting(ROUTES_BY_SCOPE) };
  if (parsed.type === "SELF_TEST") {
    await Promise.all(configured.issuers.map(({ keys }) => keys.load(Date.now())));
    return undefined;
  }
  const { authorizationToken, methodArn } = parsed;
  const [, token] = /^Bearer +([\w.-]+)$/i.exec(authorizationToken) ?? [];
  const caller = token === undefined ? undefined : await callerOf(token, configured.issuers, new Date());
  if (caller === undefined) throw new Error("Unauthorized");
  return policyFor(caller, methodArn, configured.routes);
}

function configuredIssuers(): Issuer[] {
  const own = ownIssuer(setting(TOKEN_ISSUER), setting(TOKEN_AUDIENCE));
  const trusted = setting(TRUSTED_ISSUERS);
  return [
    { ...issuerWith(own, ownKeys(own)), own: { openSubscription: openOwn } },
    ...trusted.map((one) => issuerWith(one, fetchedKeys(one))),
  ];
}

function issuerWith(trusted: TrustedIssuer, keys: KeySet): Issuer {
  return { trusted, keys, onMissingSubscription: missingSubscription(trusted.issuer) };
}

async function openOwn(sealed: string, jti: string): Promise<string | undefined> {
  return await openSubscription(sealed, jti, AbortSignal.timeout(tableMilliseconds));
}

function ownKeys({ issuer }: TrustedIssuer): KeySet {
  return new KeySet({
    fetch: async () => ({ keys: await publicKeys(new Date(), AbortSignal.timeout(tableMilliseconds)) }),
    timeoutMilliseconds: tableMilliseconds,
    // Limits the queries that made-up key ids cause. A key of ours is public for minutes before it signs.
    cooldownMilliseconds: ownKeysCooldownSeconds * 1_000,
    retryMilliseconds: 1_000,
    onFailure: unreachable(issuer),
    onUnusable: unusable(issuer),
    clock: Date.now,
  });
}

function fetchedKeys({ issuer, jwksUri }: TrustedIssuer): KeySet {
  return new KeySet({
    fetch: () => fetchKeys(jwksUri),
    timeoutMilliseconds: fetchTimeoutMilliseconds,
    cooldownMilliseconds: 10_000,
    retryMilliseconds: 10_000,
    onFailure: unreachable(issuer),
    onUnusable: unusable(issuer),
    clock: Date.now,
  });
}

/** Loads the logger when something is logged: without it the authorizer, for which every request waits, starts sooner. */
const logger = () => import("../../shared/aws/log.ts");

function missingSubscription(issuer: string) {
  return async (): Promise<void> => {
    const { log } = await logger();
    log("TOKEN_WITHOUT_SUBSCRIPTION", { issuer });
  };
}

function unreachable(issuer: string) {
  return async (error: unknown): Promise<void> => {
    const { causeOf, log } = await logger();
    log("ISSUER_KEYS_UNREACHABLE", { issuer, cause: causeOf(error) }, [{ metric: "IssuerKeysUnreachable" }]);
  };
}

function unusable(issuer: string) {
  return async (keys: readonly string[]): Promise<void> => {
    const { log } = await logger();
    log("ISSUER_KEYS_UNUSABLE", { issuer, keys: keys.join(", ").slice(0, 1_000) });
  };
}
