import { randomBytes } from "node:crypto";
import { log } from "../../shared/aws/log.ts";
import { warmUp } from "../../shared/aws/warm-up.ts";
import { setting } from "../../shared/environment.ts";
import { type ErrorDetails, Unavailable } from "../../shared/errors.ts";
import { serve } from "../../shared/http/serve.ts";
import { LOGIN_LIMIT_PER_ACCOUNT } from "../../shared/variables/login-limit-per-account.ts";
import { LOGIN_LIMIT_PER_ACCOUNT_AND_SOURCE } from "../../shared/variables/login-limit-per-account-and-source.ts";
import { LOGIN_LIMIT_PER_SOURCE } from "../../shared/variables/login-limit-per-source.ts";
import { authenticate } from "./contract.ts";
import { hashPassword, isOutdated, passwordMatches } from "./password.ts";
import { addressOf, attemptName, countersOf, secondsLeft } from "./rules.ts";
import {
  beginAttempt,
  failAttempt,
  findProfile,
  recordLogin,
  replaceHash,
  withdrawAttempt,
} from "./store.ts";
import { type ProfileRecord, profiles } from "./tables.ts";

await warmUp(profiles, { address: "-" });

/** Logs a caller in. Every attempt takes the same work until the password is verified. */
export const handler = serve(authenticate, async (request) => {
  const { body, sourceIp, now, signal, reply } = request;
  const failure = (code: "UNAUTHENTICATED" | "TOO_MANY_REQUESTS", details?: ErrorDetails) => {
    request.measure({ metric: "LoginFailures" });
    return request.refuse(code, details);
  };
  const address = addressOf(body.emailaddress);
  const counters = countersOf(address, sourceIp, now, {
    accountAndSource: setting(LOGIN_LIMIT_PER_ACCOUNT_AND_SOURCE),
    source: setting(LOGIN_LIMIT_PER_SOURCE),
    account: setting(LOGIN_LIMIT_PER_ACCOUNT),
  });
  const attempt = attemptName(now, randomBytes(6).toString("base64url"));
  request.onFault((ownSignal) => withdrawAttempt(attempt, counters, ownSignal));
  const exceeded = await beginAttempt(attempt, counters, now, signal);
  // Others under way end within seconds; failures count until their window is over.
  if (exceeded?.reason === "underWay") throw request.refuse("TOO_MANY_REQUESTS");
  if (exceeded !== undefined) {
    const allowance = { limit: exceeded.counter.limit, remaining: 0, resetSeconds: secondsLeft(now) };
    throw failure("TOO_MANY_REQUESTS", { retryAfterSeconds: allowance.resetSeconds, allowance });
  }
  const password = body.password ?? "";
  const at = now.toISOString();
  // If the hash was replaced since it was read, by another login or with the password, it is checked once more.
  for (let look = 0; look < 2; look++) {
    const profile = await findProfile(address, signal);
    // The code that signs is loaded while another thread hashes, which shortens the cold start.
    const [matches, { accessToken }] = await Promise.all([
      passwordMatches(password, profile?.passwordHash),
      import("../../shared/tokens/access-token.ts"),
    ]);
    if (profile === undefined || !matches) break;
    const [{ token, keyAgeDays }, recorded] = await Promise.all([
      accessToken(holderOf(profile), now, signal),
      recordLogin(profile, at, signal),
      withdrawAttempt(attempt, counters, signal),
    ]);
    if (!recorded) continue;
    if (keyAgeDays !== undefined) request.measure({ metric: "SigningKeyAgeDays", value: keyAgeDays });
    await renewHash(profile, password, now, signal);
    const UserProfile = { ...profile, DateLastLogin: at };
    return reply(200, { Data: { access_token: token, UserProfile }, Metadata: { StatusCode: 200 } });
  }
  await failAttempt(attempt, counters, signal);
  throw failure("UNAUTHENTICATED");
});

/** The scopes are the words of the profile's permissions (behaviour section 4). */
function holderOf({ ID, Permissions = "", subscription }: ProfileRecord) {
  return { client: String(ID), subject: String(ID), scope: Permissions, subscription };
}

/** A login that has taken longer does not renew the hash, because it must end within the request's time. */
const renewalMilliseconds = 2_500;

/** How long the write of a renewed hash may take. */
const renewalWriteMilliseconds = 500;

/** Replaces an outdated hash after a successful login. A failure does not affect the login. */
async function renewHash(
  profile: ProfileRecord,
  password: string,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  const { passwordHash } = profile;
  if (passwordHash === undefined || !isOutdated(passwordHash)) return;
  if (Date.now() - now.getTime() > renewalMilliseconds) return;
  const hash = await hashPassword(password);
  try {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(renewalWriteMilliseconds)]);
    await replaceHash(profile, hash, inTime);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    log("PASSWORD_NOT_REHASHED", { operation: authenticate.operationId, cause: error.message });
  }
}
