import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { createLocalJWKSet, jwtVerify } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { clientToken } from "../../tools/verify/features/client-token.ts";
import { readPlan } from "../../tools/verify/features/plan.ts";
import { Tokens } from "../../tools/verify/features/tokens.ts";

const folder = "test/tools/features";
const planFile = `${folder}/plan.json`;

test("the runner waits until a token has expired, and refuses one that is valid for more than two minutes", async () => {
  const tokenUntil = (exp: number) => ({
    token: `e30.${Buffer.from(JSON.stringify({ exp })).toString("base64url")}.AAAA`,
  });
  const plan = await readPlan(planFile);
  let now = 1_000_000;
  const waits: number[] = [];
  // Timers may fire early.
  const wait = async (milliseconds: number) => {
    waits.push(milliseconds);
    now += waits.length === 1 ? milliseconds - 1 : milliseconds;
  };
  const tokensWith = (exp: number) =>
    new Tokens("", { ...plan, expiredToken: tokenUntil(exp) }, folder, { now: () => now, wait });

  await tokensWith(1_000 - 9).expired();
  const refusing = tokensWith(1_000 + 3_600).expired();

  expect(waits).toEqual([1_000, 1]);
  await expect(refusing).rejects.toThrow("is valid for another 3609 s, and the runner waits 120 at most");
});

test("an invalid token differs from the valid one in its signature", async () => {
  const plan = await readPlan(planFile);
  const token = `e30.e30.${"A".repeat(86)}`;
  const callers = { anyone: { from: { token }, scopes: [] } };
  const invalid = await new Tokens("", { ...plan, callers }, folder).invalid();
  expect(invalid).toMatch(/^e30\.e30\.A+BA+$/);
  expect(invalid).toHaveLength(token.length);
});

test("ncs verify asks for a token with the client's key, for itself or for a subject", async () => {
  const keys = createLocalJWKSet(JSON.parse(readFileSync("tools/demo/clients.json", "utf8"))[0].jwks);
  const asked: unknown[] = [];
  const endpoint = await listen(
    createServer(async (request, response) => {
      const issuer = `http://${request.headers.host}`;
      if (request.method === "GET") {
        return response.end(JSON.stringify({ issuer, token_endpoint: `${issuer}/token` }));
      }
      const { assertion, client_assertion, ...form } = Object.fromEntries(
        new URLSearchParams(await text(request)),
      );
      const { payload } = await jwtVerify(assertion ?? client_assertion ?? "", keys, { audience: issuer });
      asked.push({ form, sub: payload.sub, scope: payload.scope });
      const refusal = { error: "invalid_scope" };
      return response.end(JSON.stringify(form.scope === "none" ? refusal : { access_token: "a token" }));
    }),
    0,
  );
  const client = { clientId: "demo-client", keyFile: "tools/demo/client-key.json", issuer: endpoint.url };
  onTestFinished(() => endpoint.close());
  expect(await clientToken(client, ["a", "b"])).toBe("a token");
  const subject = { subject: "tel:+34600000001", purpose: "dpv:ServiceProvision" };
  expect(await clientToken({ ...client, ...subject }, ["a"])).toBe("a token");
  await expect(clientToken(client, ["none"])).rejects.toThrow(
    /^demo-client gets no token at .* invalid_scope$/,
  );
  expect(asked.slice(0, 2)).toEqual([
    {
      form: {
        grant_type: "client_credentials",
        client_id: "demo-client",
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        scope: "a b",
      },
      sub: "demo-client",
    },
    {
      form: { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer" },
      sub: "tel:+34600000001",
      scope: "a dpv:ServiceProvision",
    },
  ]);
});
