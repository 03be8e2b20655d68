import { createServer } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { consoleWebsite } from "../../functions/console/website.ts";
import type { FunctionId, ReleaseCheckId } from "../../infra/functions.ts";
import { privateJwk } from "../../shared/tokens/token.ts";
import { tokenOf } from "../../tools/calls/login.ts";
import { isFunction, readSynthesizedFunctions } from "../../tools/cli/synthesized-functions.ts";
import { demoLogins } from "../../tools/demo-logins.ts";
import { demoData } from "../../tools/import/data-files.ts";
import { signingKeySecret } from "../../tools/local/declared/aws-names.ts";
import { ownIssuer, startDemoService } from "../../tools/local/demo-service.ts";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { chosenPort, listen } from "../../tools/local/servers/listening-server.ts";
import type { LocalService } from "../../tools/local/service.ts";
import { bundleVariables } from "../../tools/made-bundles.ts";
import { RuntimeClient } from "../../tools/runtime-client.ts";
import { verify } from "../../tools/verify/verify.ts";
import { busyMachine } from "../support/busy-machine.ts";
import { expectDocumentedFeatures, featuresConfiguration } from "../support/camara-features.ts";
import { camaraRelease } from "../support/camara-release.ts";
import { demoLogin } from "../support/demo-login.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { isInCi } from "../support/sample.ts";
import { sharedBundles, sharedTemplates } from "../support/service.ts";

const definitions = camaraRelease();
if (isInCi && definitions === undefined)
  console.warn("SKIPPED: CAMARA's features were not run: set CAMARA_DEFINITIONS.");
const folder = useOwnFolder();

describe.skipIf(!isInCi)("a service of all bundles, with the variables of their templates", () => {
  const written: Uint8Array[] = [];
  let bundles: string;
  let service: LocalService;
  beforeAll(async () => {
    bundles = await sharedBundles();
    const synthesized = [...(await readSynthesizedFunctions(join(await sharedTemplates(), "localDev")))];
    const port = await chosenPort(0);
    service = await startDemoService({
      port,
      data: demoData,
      environment: { ...ownIssuer(port), ...featuresConfiguration },
      deadlineFactor: Number(busyMachine.DEADLINE_FACTOR),
      extraEnvironment: busyMachine,
      bundles: {
        folder: bundles,
        variablesOf: (id) => {
          const [, variables] =
            synthesized.find(([logicalId]) => isFunction(id, logicalId)) ?? expect.fail(id);
          // No stage allows a sink on this machine: what is empty is no variable of its functions.
          return [...Object.keys(variables), "SINK_ALLOWED_NETWORKS"];
        },
      },
      logs: { write: (chunk) => written.push(Buffer.from(chunk)) },
    });
  });
  afterAll(() => service?.close());

  test("ncs verify passes all scenarios through bundles", async () => {
    const { outcomes } = await verify({ url: service.url, logins: demoLogins() });
    const failed = outcomes.filter(({ failure }) => failure !== undefined);
    const lines = Buffer.concat(written).toString().split("\n");
    const errors = lines.filter((line) => line.includes('"ERROR"')).join("\n");
    expect(
      failed.map(({ name, failure }) => `${name}: ${failure}`),
      errors,
    ).toEqual([]);
    expect(outcomes.length).toBeGreaterThan(100);
  });

  test("console/publish serves the page, its assets and the text for agents from beside its bundle", async () => {
    const page = await (await fetch(`${service.url}/`)).text();
    const assets = [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, path]) => `/${path}`);
    expect(assets.length).toBeGreaterThan(0);
    for (const path of [...consoleWebsite.paths.filter((one) => !one.includes("{")), ...assets])
      expect(await fetch(service.url + path), path).toMatchObject({ status: 200 });
  });

  test.skipIf(definitions === undefined)("CAMARA's features pass through bundles as documented", async () => {
    const { SecretString } = await signingKey();
    const key = privateJwk.parse(JSON.parse(SecretString ?? ""));
    await expectDocumentedFeatures(service, definitions ?? expect.fail(), key, folder.path);
  });

  async function signingKey() {
    const endpoint = service.secretsEndpoint;
    const secrets = new SecretsManagerClient({
      region: "eu-west-1",
      credentials: embeddedCredentials,
      endpoint,
    });
    onTestFinished(() => secrets.destroy());
    return await secrets.send(new GetSecretValueCommand({ SecretId: signingKeySecret.arn }));
  }

  /** What the bundle of a function returns to an event on AWS's runtime client. */
  async function invoked(
    id: FunctionId | ReleaseCheckId,
    environment: Readonly<Record<string, string>>,
    event: unknown,
  ): Promise<unknown> {
    const client = new RuntimeClient();
    onTestFinished(() => client.close());
    await client.start({ ...environment, ...bundleVariables(bundles, id) });
    const { errorType, result } = await client.invoke(event);
    expect(errorType, client.output).toBeUndefined();
    return result;
  }

  test("authorizer/authorize on AWS's runtime client allows a token of the login its routes", async () => {
    const token = await tokenOf(service.url, demoLogin);
    const methodArn = "arn:aws:execute-api:eu-west-1:000000000000:localapi00/live/POST/numberrecycling/check";
    const event = { type: "TOKEN", authorizationToken: `Bearer ${token}`, methodArn };
    const id = "authorizer/authorize";
    const answer = await invoked(id, service.environmentOf(id), event);
    expect(answer).toMatchObject({ policyDocument: { Statement: [{ Effect: "Allow" }] } });
  });

  test("keys/rotate on AWS's runtime client finishes the rotation that is the current one", async () => {
    const { VersionId } = await signingKey();
    const event = { Step: "finishSecret", SecretId: signingKeySecret.arn, ClientRequestToken: VersionId };
    expect(await invoked("keys/rotate", service.environmentOf("keys/rotate"), event)).toBeNull();
  });

  test("population-density/deliver on AWS's runtime client takes a message of a job that is gone", async () => {
    const id = "population-density/deliver";
    const body = JSON.stringify({ version: 1, operationId: crypto.randomUUID() });
    const attributes = { ApproximateReceiveCount: "1", SentTimestamp: String(Date.now()) };
    const event = { Records: [{ messageId: "one", receiptHandle: "x", body, attributes }] };
    expect(await invoked(id, service.environmentOf(id), event)).toEqual({ batchItemFailures: [] });
  });

  test("population-density/sweep on AWS's runtime client looks for jobs that wait", async () => {
    const id = "population-density/sweep";
    expect(await invoked(id, service.environmentOf(id), {})).toBeNull();
  });

  test("releases/check on AWS's runtime client invokes a new version, and tells CloudFormation", async () => {
    const told: unknown[] = [];
    const aws = await listen(
      createServer(async (request, response) => {
        if (request.method === "PUT") told.push(await json(request));
        response.end(request.method === "PUT" ? "" : '{"statusCode":404}');
      }),
      0,
    );
    onTestFinished(() => aws.close());
    const resources = join(await sharedTemplates(), "deployed");
    const [, variables] =
      [...(await readSynthesizedFunctions(resources))].find(([logicalId]) =>
        isFunction("releases/check", logicalId),
      ) ?? expect.fail();
    const event = {
      RequestType: "Update",
      ResponseURL: aws.url,
      ...{ StackId: "stack", RequestId: "request", LogicalResourceId: "Checked" },
      ResourceProperties: {
        Versions: ["arn:aws:lambda:eu-west-1:123456789012:function:one:2"],
        ...{ Scopes: "qos-profiles:read", AtOnce: "false", Accepted: [] },
      },
      OldResourceProperties: { Versions: [], Accepted: [] },
    };
    const shell = { AWS_REGION: "eu-west-1", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" };
    await invoked("releases/check", { ...variables, ...shell, AWS_ENDPOINT_URL_LAMBDA: aws.url }, event);
    expect(told).toMatchObject([{ Status: "SUCCESS" }]);
  });
});
