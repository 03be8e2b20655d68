import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import * as z from "zod";
import { functionIds } from "../../infra/bundles.ts";
import { tableVariable } from "../../shared/table.ts";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { makeAssembly } from "../../tools/assembly.ts";
import { cachedFolder } from "../../tools/build-cache.ts";
import { runProgram } from "../../tools/child-program.ts";
import { readFault } from "../../tools/faults.ts";
import { demoData } from "../../tools/import/data-files.ts";
import { invokeEvent } from "../../tools/invoke-event.ts";
import { startDemoService } from "../../tools/local/demo-service.ts";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";
import type { LocalService } from "../../tools/local/service.ts";
import { tableNamesIn } from "../../tools/local/store-environment.ts";
import { storeSampleOperations } from "../../tools/sample-operations.ts";
import { templateSources } from "../infra/template-sources.ts";
import { busyMachine } from "./busy-machine.ts";
import { storeQuickLogins } from "./quick-logins.ts";
import { uncached } from "./uncached.ts";

/** What a test file can know of the service that all share. */
export interface SharedService {
  /** The folder of the cloud assembly. */
  readonly assembly: string;
  /** The folder of the bundles. */
  readonly bundles: string;
  /** Where the service listens. */
  readonly url: string;
  /** Where an `invocation` is posted: its function is invoked directly, without the gateway. */
  readonly invocations: string;
  readonly databaseEndpoint: string;
  /** Undefined when the stack has no queue. */
  readonly queueEndpoint?: string | undefined;
  /** The environment of the login function, the only one that knows the signing key's secret. */
  readonly loginEnvironment: Readonly<Record<string, string>>;
  /** Names of all tables by their variable. */
  readonly tableNames: Readonly<Record<string, string>>;
}

/** The service that all test files share, in the process that starts the tests. */
interface StartedService {
  readonly shared: SharedService;
  /** The folder of the templates that several files look at, made when first asked for: few files need them. */
  readonly templates: () => Promise<string>;
  readonly close: () => Promise<void>;
}

/**
 * Builds, synthesizes and serves the stack, with the demo data.
 * @param isWhole whether long tests run whole.
 */
export async function startSharedService(isWhole: boolean): Promise<StartedService> {
  const making = makeAssembly();
  const starting = startDemoService({
    assembly: making.then(({ assembly }) => assembly),
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: process.env.AWS_ENDPOINT_URL_DYNAMODB,
      AWS_ENDPOINT_URL_SQS: process.env.AWS_ENDPOINT_URL_SQS,
    },
    deadlineFactor: Number(busyMachine.DEADLINE_FACTOR),
    extraEnvironment: { ...busyMachine, ...uncached },
    // Each thread compiles its function again, which costs more than to wait for the one that runs. When long tests run
    // whole, requests run at the same time in two threads, as in several executions of a deployed function.
    maxThreadsOf: (_, batches) => (isWhole || batches !== undefined ? 2 : 1),
    // A start takes longer than dozens of requests.
    idleMilliseconds: 600_000,
    port: 0,
    data: demoData,
    logs: { write: () => true },
  });
  const [{ assembly, bundles, remove }, service] = await Promise.all([making, starting]);
  const environments = service.template.functions.map(({ logicalId }) => service.environmentOf(logicalId));
  const login = environments.find((environment) => environment.SIGNING_KEY_SECRET_ARN !== undefined);
  const tableNames = tableNamesIn(service.template);
  const invocations = await openInvocations(service);
  await storeForTests(service.databaseEndpoint, tableNames);
  let templates: ReturnType<typeof makeTemplates> | undefined;
  return {
    shared: {
      assembly,
      bundles,
      url: service.url,
      invocations: invocations.url,
      databaseEndpoint: service.databaseEndpoint,
      queueEndpoint: service.queueEndpoint,
      loginEnvironment: login ?? {},
      tableNames,
    },
    templates: async () => {
      templates ??= makeTemplates(bundles);
      return (await templates).path;
    },
    close: async () => {
      await invocations.close();
      await service.close();
      await templates?.then(
        (made) => made.remove(),
        () => {},
      );
      remove();
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
  const cached = cachedFolder("templates", { sources: templateSources });
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
