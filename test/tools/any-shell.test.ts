import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { announce } from "../../tools/local/running-service.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { isInCi } from "../support/sample.ts";

const folder = useOwnFolder();
/** Variables of another account: its profile is not there, and no local server can follow its settings. */
let shell: NodeJS.ProcessEnv;
let service: OwnService;
let local: readonly string[];

beforeAll(async () => {
  const AWS_CONFIG_FILE = await folder.write("config", "[default]\nuse_fips_endpoint = true\n");
  shell = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(?:AWS_|VITEST|TABLE_)/.test(name)),
    ),
    AWS_PROFILE: "no-such-profile",
    AWS_CONFIG_FILE,
    AWS_DEFAULT_REGION: "us-gov-west-1",
    AWS_ENDPOINT_URL: "http://127.0.0.1:1",
    AWS_SDK_LOAD_CONFIG: "1",
    AWS_USE_DUALSTACK_ENDPOINT: "true",
    AWS_USE_FIPS_ENDPOINT: "true",
  };
  service = await startOwnService();
  announce(service, false);
  local = ["--local", new URL(service.url).port];
  return () => service.close();
});

async function run(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: shell });
  return stdout;
}

test("ncs import and ncs list work on an npm start in a shell with an unknown profile, FIPS and another endpoint", async () => {
  const ncs = ["tools/ncs.ts"];
  const imported = await run(...ncs, "import", "qos-profiles", "tools/demo/qos-profiles.json", ...local);
  expect(imported).toMatch(/^\d+ records imported into http:\/\/127\.0\.0\.1:/);
  expect(await run(...ncs, "list", "qos-profiles", ...local)).toContain("QOS_");
});

test.runIf(isInCi)(
  "vitest passes a test file that uses DynamoDB in a shell that names an unknown AWS profile, FIPS and another endpoint",
  async () => {
    const output = await run("node_modules/vitest/vitest.mjs", "run", "test/number-recycling/check.test.ts");
    expect(output).toMatch(/Test Files .*1 passed/);
  },
);
