import { expect, test } from "vitest";
import { stackNames } from "../../infra/stack-names.ts";
import type { LocalFunction } from "../../tools/local/template/functions.ts";
import { loadTemplate } from "../../tools/local/template/template.ts";
import { sharedFolder } from "../infra/template.ts";
import { sharedService } from "../support/service.ts";

/** The template of the stage prod, which has versions and aliases. */
const prod = loadTemplate(sharedFolder("localProd"));

/** The functions that requests, messages and schedules invoke; CloudFormation invokes the check of a release. */
function served(functions: readonly LocalFunction[]): readonly LocalFunction[] {
  return functions.filter(({ logicalId }) => !logicalId.startsWith("ReleasesCheck"));
}

test("the template of prod is served like that of dev but for names, rates, numbers of workers and the sandbox", () => {
  const dev = loadTemplate(sharedService.assembly);
  const { functions, tables, queues, eventSources, rotations, secrets, api } = prod;
  const withoutFolder = ({
    environment: { MAX_WORKERS: _, SANDBOX: __, ...environment },
    ...one
  }: LocalFunction) => ({
    ...one,
    environment,
    assetDirectory: "",
  });
  const withoutWorkers = ({ concurrency: _, ...source }: (typeof eventSources)[number]) => source;
  const unnamed = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll(stackNames.dev, stackNames.prod));
  expect(served(functions).map(withoutFolder)).toEqual(unnamed(dev.functions.map(withoutFolder)));
  expect(eventSources.map(withoutWorkers)).toEqual(dev.eventSources.map(withoutWorkers));
  expect({ tables, queues, rotations, secrets }).toEqual({
    tables: unnamed(dev.tables),
    queues: dev.queues,
    rotations: dev.rotations,
    secrets: dev.secrets,
  });
  expect(eventSources.map(({ concurrency }) => concurrency)).toEqual([50]);
  expect(api.authorizers).toEqual(dev.api.authorizers);
  expect(api.routes).toEqual(dev.api.routes);
});
