import { randomUUID } from "node:crypto";
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  RotateSecretCommand,
} from "@aws-sdk/client-secrets-manager";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import * as z from "zod";
import { signingSecret } from "../../shared/tokens/token.ts";
import { runNcs, spawnNcs } from "../support/ncs.ts";
import { useShell } from "../support/operator.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { isWhole } from "../support/sample.ts";

let service: OwnService;
const folder = useOwnFolder();

beforeAll(async () => {
  service = await startOwnService();
});
afterAll(() => service.close());

beforeEach(() =>
  useShell({ AWS_ENDPOINT_URL_SECRETS_MANAGER: service.secretsEndpoint, SIGNING_KEY_SECRET_ARN: undefined }),
);
afterEach(() => vi.unstubAllEnvs());

/** The arguments of a person who has what `cdk deploy --outputs-file` wrote. */
async function rotating(outputs: object): Promise<readonly string[]> {
  return ["rotate-keys", "--outputs", await folder.write(`${randomUUID()}.json`, outputs)];
}

async function secret() {
  const command = new GetSecretValueCommand({ SecretId: service.secretId });
  const { SecretString = "" } = await service.secrets.send(command);
  return signingSecret.parse(JSON.parse(SecretString));
}

async function publishedIds(): Promise<string[]> {
  const { body } = await service.call("/.well-known/jwks.json");
  return z
    .object({ keys: z.array(z.object({ kid: z.string() })) })
    .parse(body)
    .keys.map(({ kid }) => kid);
}

test("ncs rotate-keys publishes a new key and prints when it begins to sign", async () => {
  const before = await secret();

  const args = await rotating({
    "NetworkCapabilities-dev": { SigningKeySecretArn: service.secretId },
    Another: { BucketName: "of somebody else" },
  });
  const { code, stdout, stderr } = await (isWhole ? spawnNcs : runNcs)(args);

  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const after = await secret();
  expect(after.kid).not.toBe(before.kid);
  expect(after.before?.map(({ kid }) => kid)).toEqual([before.kid]);
  expect(await publishedIds()).toEqual(expect.arrayContaining([before.kid, after.kid]));
  const [, shown = ""] = /^The new key is public, and signs all tokens from (\S+) on\n$/.exec(stdout) ?? [];
  expect(Date.parse(shown) / 1_000).toBeGreaterThanOrEqual(after.signsFrom ?? Number.NaN);
});

test("a rotation begins only after the one under way has ended", async () => {
  const rotate = () => service.secrets.send(new RotateSecretCommand({ SecretId: service.secretId }));
  const { VersionId = "" } = await rotate();

  await expect(rotate()).rejects.toMatchObject({ name: "InvalidRequestException" });

  const labels = async () => {
    const command = new DescribeSecretCommand({ SecretId: service.secretId });
    return (await service.secrets.send(command)).VersionIdsToStages?.[VersionId];
  };
  await expect.poll(labels).toContain("AWSCURRENT");
  await expect.poll(rotate).toBeDefined();
});
