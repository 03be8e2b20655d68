import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import * as z from "zod";
import { functionIds } from "../../infra/bundles.ts";
import { tableVariable } from "../../shared/table.ts";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { cachedFolder } from "../../tools/build-cache.ts";
import { runProgram } from "../../tools/child-program.ts";
import { readFault } from "../../tools/faults.ts";
import { demoData } from "../../tools/import/data-files.ts";
import { invokeEvent } from "../../tools/invoke-event.ts";
import { startDemoService } from "../../tools/local/demo-service.ts";
import { Pages } from "../../tools/local/pages.ts";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";
import type { LocalService } from "../../tools/local/service.ts";
import { type MadeBundles, makeBundles } from "../../tools/made-bundles.ts";
import { storeSampleOperations } from "../../tools/sample-operations.ts";
import { templateSources } from "../infra/template-sources.ts";
import { busyMachine } from "./busy-machine.ts";
import { storeQuickLogins } from "./quick-logins.ts";
import { uncached } from "./uncached.ts";

/** What a test file can know of the service that all share. */
export interface SharedService {
  /** Where the service listens. */
  readonly url: string;
  /** Where an `invocation` is posted: its function is invoked directly, without the gateway. */
  readonly invocations: string;
  readonly databaseEndpoint: string;
  readonly queueEndpoint: string;
  /** The environment of the login function, the only one that knows the signing key's secret. */
  readonly loginEnvironment: Readonly<Record<string, string>>;
  /** Names of all tables by their variable. */
  readonly tableNames: Readonly<Record<string, string>>;
}

/** The service that all test files share, in the process that starts the tests. */
interface StartedService {
  readonly shared: SharedService;
  /** The folder of the pages that the service serves, which are built when first asked for. */
  readonly pages: () => Promise<string>;
  /** The folder of the bundles, made when first asked for: few files need them. */
  readonly bundles: () => Promise<string>;
  /** The folder of the templates that several files look at, made of the bundles when first asked for. */
  readonly templates: () => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Serves the declarations, with the demo data. */
export async function startSharedService(): Promise<StartedService> {
  const pages = new Pages(() => {});
  const service = await startDemoService({
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: process.env.AWS_ENDPOINT_URL_DYNAMODB,
      AWS_ENDPOINT_URL_SQS: process.env.AWS_ENDPOINT_URL_SQS,
    },
    deadlineFactor: Number(busyMachine.DEADLINE_FACTOR),
    extraEnvironment: { ...busyMachine, ...uncached },
    pages,
    port: 0,
    data: demoData,
    logs: { write: () => true },
  });
  const { url, databaseEndpoint, queueEndpoint, tableNames } = service;
  const loginEnvironment = service.environmentOf("profile/authenticate");
  const invocations = await openInvocations(service);
  await storeForTests(databaseEndpoint, tableNames);
  let made: Promise<MadeBundles> | undefined;
  const bundles = async () => {
    made ??= makeBundles();
    return (await made).bundles;
  };
  let templates: ReturnType<typeof makeTemplates> | undefined;
  return {
    shared: {
      url,
      invocations: invocations.url,
      databaseEndpoint,
      queueEndpoint,
      loginEnvironment,
      tableNames,
    },
    pages: async () => {
      await pages.built();
      return pages.folder;
    },
    bundles,
    templates: async () => {
      templates ??= bundles().then(makeTemplates);
      return (await templates).path;
    },
    close: async () => {
      await invocations.close();
      await service.close();
      pages.remove();
      for (const one of await Promise.allSettled([made, templates])) {
        if (one.status === "fulfilled") one.value?.remove();
      }
    },
  };
}

const invocation = z.object({
  functionId: z.enum(functionIds),
  event: z.unknown(),
  /** The name of one in `events/faults`. */
  fault: z.optional(z.string()),
});

/** Answers an invocation, as JSON, with what the function answers to the event. */
function openInvocations(service: LocalService): Promise<ListeningServer> {
  const server = createServer(async (request, response) => {
    try {
      const { fault, ...event } = invocation.parse(await json(request));
      const answer = await invokeEvent(service, event, fault === undefined ? undefined : readFault(fault));
      response.end(JSON.stringify(answer));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  return listen(server, 0);
}

/** Puts the templates that tests look at into a temporary folder: cached ones, or else they are synthesized. */
async function makeTemplates(bundles: string): Promise<ReturnType<typeof temporaryFolder>> {
  const folder = temporaryFolder("network-capabilities-templates-");
  const cached = cachedFolder("templates", { sources: templateSources() });
  if (!cached.restore(folder.path)) {
    const program = new URL("../infra/make-templates.ts", import.meta.url);
    await runProgram(program, [bundles, folder.path]);
    cached.store(folder.path);
  }
  return folder;
}

/** Stores the sample operations, and quick hashes for the logins. */
async function storeForTests(endpoint: string, tableNames: Readonly<Record<string, string>>): Promise<void> {
  const client = new DynamoDBClient({ region: "eu-west-1", credentials: embeddedCredentials, endpoint });
  await storeSampleOperations((name, item) => {
    const Item = marshall(item, { removeUndefinedValues: true });
    return client.send(new PutItemCommand({ TableName: tableNames[tableVariable({ name })], Item }));
  });
  await storeQuickLogins(client, tableNames[tableVariable({ name: "profiles" })]);
  client.destroy();
}
