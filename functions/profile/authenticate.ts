import { setting } from "../../shared/environment.ts";
import type { Particulars } from "../../shared/errors.ts";
import { serve } from "../../shared/http/lambda.ts";
import { authenticate } from "./contract.ts";
import { passwordMatches } from "./password.ts";
import { addressOf, countersOf, secondsLeft } from "./rules.ts";
import { countAttempt, findProfile, forgetAttempt, recordLogin } from "./store.ts";

/** Logs a caller in; every attempt costs the same work until the password turns out right. */
export const handler = serve(authenticate, async (request) => {
  const { body, sourceIp, now, signal, reply } = request;
  const failure = (code: "UNAUTHENTICATED" | "TOO_MANY_REQUESTS", particulars?: Particulars) => {
    request.measure({ metric: "LoginFailures" });
    return request.refuse(code, particulars);
  };
  const address = addressOf(body.emailaddress);
  const counters = countersOf(address, sourceIp, now, {
    accountAndSource: setting("LOGIN_LIMIT_PER_ACCOUNT_AND_SOURCE"),
    source: setting("LOGIN_LIMIT_PER_SOURCE"),
    account: setting("LOGIN_LIMIT_PER_ACCOUNT"),
  });
  const full = await countAttempt(counters, now, signal);
  if (full !== undefined) {
    const allowance = { limit: full.limit, remaining: 0, resetSeconds: secondsLeft(now) };
    throw failure("TOO_MANY_REQUESTS", { retryAfterSeconds: allowance.resetSeconds, allowance });
  }
  const profile = await findProfile(address, signal);
  // Signing is loaded while another thread hashes: that much less to read before a first request.
  const [matches, { accessToken }] = await Promise.all([
    passwordMatches(body.password ?? "", profile?.passwordHash),
    import("./access-token.ts"),
  ]);
  if (profile === undefined || !matches) throw failure("UNAUTHENTICATED");

  const at = now.toISOString();
  const [token, recorded] = await Promise.all([
    accessToken(profile, now, signal),
    recordLogin(profile, at, signal),
    forgetAttempt(counters, signal),
  ]);
  if (!recorded) throw failure("UNAUTHENTICATED");
  const UserProfile = { ...profile, DateLastLogin: at };
  return reply(200, { Data: { access_token: token, UserProfile }, Metadata: { StatusCode: 200 } });
});
