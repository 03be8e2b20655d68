import { decodeJwt, decodeProtectedHeader } from "jose";
import { expect, test } from "vitest";
import { hashPassword } from "../../functions/profile/password.ts";
import { attemptName, countersOf } from "../../functions/profile/rules.ts";
import { beginAttempt, failAttempt, replaceProfile, withdrawAttempt } from "../../functions/profile/store.ts";
import { loginAttempts } from "../../functions/profile/tables.ts";
import { deleteItem } from "../../shared/aws/database.ts";
import { accessTokenClaims } from "../../shared/tokens/token.ts";
import { call } from "../support/client.ts";
import { useTables } from "../support/database.ts";

const path = "/v3/profile/authenticate";
const app = { emailaddress: "app@example.com", password: "correct horse battery staple" };
const ada = { emailaddress: "ada@example.com", password: "subscriber one pass" };

const limits = { accountAndSource: 20, source: 300, account: 100 };

/** The counters of one account from this machine, now and in the window that begins soon. */
function countersSoon(emailaddress: string, now: Date) {
  const soon = new Date(now.getTime() + 60_000);
  return [now, soon].flatMap((at) => countersOf(emailaddress, "127.0.0.1", at, limits).slice(0, 1));
}

/** Takes up room below the limit of one account from this machine, now and in the window that begins soon. */
async function occupy(
  emailaddress: string,
  { failures = 0, underWay = 0 }: { failures?: number; underWay?: number },
): Promise<{ readonly end: () => Promise<void> }> {
  const signal = AbortSignal.timeout(60_000);
  const now = new Date();
  const counters = countersSoon(emailaddress, now);
  const begun: string[] = [];
  for (let number = 0; number < failures + underWay; number++) {
    const attempt = attemptName(now, String(number));
    // The same counter twice, when no window ends soon, counts an attempt once.
    await beginAttempt(attempt, counters, now, signal);
    if (number < failures) await failAttempt(attempt, counters, signal);
    else begun.push(attempt);
  }
  return {
    end: async () => {
      for (const attempt of begun) await withdrawAttempt(attempt, counters, AbortSignal.timeout(60_000));
    },
  };
}

interface LoggedIn {
  readonly Data: { readonly access_token: string; readonly UserProfile: Readonly<Record<string, unknown>> };
  readonly Metadata: unknown;
}

async function logIn(body: unknown, at = path) {
  const answer = await call(at, { body, headers: { "x-correlator": "login-1" } });
  return { ...answer, body: answer.body as unknown as LoggedIn };
}

test("POST /v3/profile/authenticate returns 200 with Cache-Control: no-store and the caller's x-correlator", async () => {
  const { status, headers } = await logIn(app);

  expect(status).toBe(200);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-correlator")).toBe("login-1");
});

test("POST /authenticate returns the time of this login as the last login", async () => {
  const before = Date.now();
  const { body } = await logIn(ada);
  const last = Date.parse(String(body.Data.UserProfile.DateLastLogin));

  expect(last).toBeGreaterThanOrEqual(before - 1_000);
  expect(last).toBeLessThanOrEqual(Date.now() + 1_000);
});

test("POST /authenticate returns a 2-legged token with the claims of RFC 9068 without a subscription", async () => {
  const { body } = await logIn(app);
  const claims = accessTokenClaims.parse(decodeJwt(body.Data.access_token));

  expect(decodeProtectedHeader(body.Data.access_token)).toEqual({
    alg: "ES256",
    typ: "at+jwt",
    kid: expect.any(String),
  });
  expect(claims.exp - claims.iat).toBe(3600);
  expect(claims.scope).toBe(body.Data.UserProfile.Permissions);
  expect(claims).not.toHaveProperty("subscription");
});

test("POST /authenticate returns a 3-legged token without subscription id and phone number for a linked login", async () => {
  const { body } = await logIn(ada);
  const claims = decodeJwt(body.Data.access_token);

  expect(claims).toMatchObject({ sub: "1001", subscription: expect.stringMatching(/^[\w-]{100,}$/) });
  for (const name of ["s-0001", "+34"]) expect(JSON.stringify(claims)).not.toContain(name);
});

test("POST /authenticate returns another token for each login", async () => {
  const [first, second] = await Promise.all([logIn(app), logIn(app)]);
  expect(decodeJwt(first.body.Data.access_token).jti).not.toBe(decodeJwt(second.body.Data.access_token).jti);
});

test("POST /authenticate returns the same 401 whether or not the account exists", async () => {
  useTables();
  // Other files log in without an address too.
  for (const { key } of countersSoon("", new Date()))
    await deleteItem(loginAttempts, { counted: key }, {}, AbortSignal.timeout(60_000));
  const bodies = [
    {},
    { emailaddress: "" },
    { password: "alone" },
    { ...app, password: "wrong" },
    { emailaddress: `${crypto.randomUUID()}@example.com`, password: "wrong" },
    { emailaddress: "x".repeat(5_000), password: "wrong" },
    { emailaddress: "\ud800", password: "\udfff" },
  ];
  const answers = await Promise.all(bodies.map((body) => call(path, { body })));

  for (const { status, headers, body } of answers) {
    expect(status).toBe(401);
    expect(body).toEqual(answers[0]?.body);
    expect(headers.get("cache-control")).toBe("no-store");
  }
});

test("POST /authenticate returns 401 for an account without a password", async () => {
  useTables();
  const EmailAddress = `${crypto.randomUUID()}@example.com`;
  const account = {
    ID: 7,
    Username: "None",
    DateCreated: "2026-01-01T00:00:00Z",
    IsProfilePublic: true,
    EmailAddress,
  };
  await replaceProfile(account, AbortSignal.timeout(60_000));

  expect((await call(path, { body: { emailaddress: EmailAddress } })).status).toBe(401);
  expect((await call(path, { body: { emailaddress: EmailAddress, password: "" } })).status).toBe(401);
});

/** The address of a fresh account with the password `right`, or of none. */
async function addressOf(kind: string): Promise<string> {
  useTables();
  const EmailAddress = `${crypto.randomUUID()}@example.com`;
  if (kind === "an account that exists") {
    const account = { ID: 8, Username: "T", DateCreated: "2026-01-01T00:00:00Z", IsProfilePublic: true };
    const passwordHash = await hashPassword("right");
    await replaceProfile({ ...account, EmailAddress, passwordHash }, AbortSignal.timeout(60_000));
  }
  return EmailAddress;
}

test.each(["an account that exists", "an account that does not exist"])(
  "POST /authenticate returns 429 after too many failures of %s, and 200 to others",
  async (kind) => {
    const emailaddress = await addressOf(kind);
    const attempt = (password: string) => call(path, { body: { emailaddress, password } });
    // Most failures are counted as the function counts them, without the quarter of a second each that it takes.
    await occupy(emailaddress, { failures: 17 });

    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && statuses.length <= 24) statuses.push((await attempt("wrong")).status);
    const refused = await attempt("right");

    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(3);
    expect(refused).toMatchObject({ status: 429, body: { status: 429, code: "TOO_MANY_REQUESTS" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(900);
    expect(refused.headers.get("x-ratelimit-limit")).toBe("20");
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(refused.headers.get("x-ratelimit-reset")).toBe(refused.headers.get("retry-after"));
    expect((await logIn(app)).status).toBe(200);
  },
);

test.each(["an account that exists", "an account that does not exist"])(
  "POST /authenticate returns 429 with Retry-After 1 while other logins of %s are under way",
  async (kind) => {
    const emailaddress = await addressOf(kind);
    const others = await occupy(emailaddress, { failures: 19, underWay: 1 });

    const refused = await call(path, { body: { emailaddress, password: "right" } });
    await others.end();
    const after = await call(path, { body: { emailaddress, password: "right" } });

    expect(refused).toMatchObject({ status: 429, body: { status: 429, code: "TOO_MANY_REQUESTS" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    // It waits for others, not for a window to end.
    expect([...refused.headers.keys()].filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
    expect(after.status).toBe(kind === "an account that exists" ? 200 : 401);
  },
);
