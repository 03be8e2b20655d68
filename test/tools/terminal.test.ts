import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { densityImports } from "../../functions/population-density/import/store/tables.ts";
import { densities } from "../../functions/population-density/tiles/table.ts";
import { outputNames, tableOutput } from "../../infra/output-names.ts";
import { stackName } from "../../infra/stack-names.ts";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";
import { canMount, has, withMounted } from "../support/mounted.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();
let table: ListeningServer;
let importing: string;

beforeAll(async () => {
  const outputs = await folder.write("outputs.json", {
    [stackName]: {
      [tableOutput(densities)]: "densities",
      [tableOutput(densityImports)]: "density-imports",
      [outputNames.densityK]: "10",
      [outputNames.densityPrecisions]: "3-7",
    },
  });
  const rows = await folder.write(
    "counted.csv",
    "geohash,startTime,people\nb00000000,2026-11-20T08:00:00Z,5000\n",
  );
  importing = `${process.execPath} tools/ncs.ts import density ${rows} --coverage rows --source A --outputs ${outputs}`;
  // A table that has nothing, and hangs when it is written.
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const isForNothing = ['{"S":"-"}', '{"S":"data-set"}', "KeyConditionExpression"].some((part) =>
      body.includes(part),
    );
    if (isForNothing) response.end("{}");
  });
  table = await listen(server, 0);
});
afterAll(() => table.close());

const environment = () => ({
  ...process.env,
  AWS_ENDPOINT_URL_DYNAMODB: table.url,
  AWS_REGION: "eu-west-1",
  TERM: "xterm",
});

const noWrap = "\u001b[?7l";
const wrap = "\u001b[?7h";

test.runIf(has("script", "-qec", "true", "/dev/null")).each([
  ["Ctrl-C", "\u0003", undefined, 130],
  ["TERM", "", "SIGTERM", 143],
] as const)(
  "ncs import density ended by %s while a bar runs: lines wrap again, the bar is gone, it says that nothing was stored, and exits with the code of the signal",
  async (_, typed, signal, code) => {
    const output = join(folder.path, `pid-${code}`);
    // `script` runs the program in a pseudo-terminal and passes on what is typed.
    const program = spawn("script", ["-qefc", `echo $$ > ${output}; exec ${importing}`, "/dev/null"], {
      env: environment(),
      stdio: ["pipe", "pipe", "ignore"],
    });
    onTestFinished(() => void program.kill("SIGKILL"));
    const ended = new Promise((resolve) => program.once("exit", resolve));
    let shown = "";
    program.stdout.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
    });
    await expect.poll(() => shown).toContain("100 % read");
    expect(shown).toContain(noWrap);

    if (signal === undefined) program.stdin.write(typed);
    else process.kill(Number(readFileSync(output, "utf8")), signal);

    expect(await ended).toBe(code);
    expect(shown.lastIndexOf(wrap)).toBeGreaterThan(shown.lastIndexOf(noWrap));
    expect(shown.split("\u001b[2K").at(-1)).toBe("interrupted: nothing was stored\r\n");
  },
);

/** Runs a command with a folder whose disk is full soon, and says what was left there. */
async function onFullDisk(command: string, variables: NodeJS.ProcessEnv = {}) {
  const disk = join(folder.path, "disk");
  mkdirSync(disk, { recursive: true });
  const commands = `${command}; code=$?; ls -A ${disk}; exit $code`;
  const { code, stdout, stderr } = await withMounted(disk, "size=64k", commands, [], {
    ...environment(),
    ...variables,
  });
  return { code, left: stdout, stderr, disk };
}

test.runIf(canMount)(
  "ncs generate density on a full disk names the folder and leaves no file there",
  async () => {
    const generating = "tools/ncs.ts generate density --bbox 4.7,45.6,5,45.9 --weeks 1 --precision 6 --out";
    const { code, left, stderr, disk } = await onFullDisk(
      `${process.execPath} ${generating} ${join(folder.path, "disk", "made.csv")}`,
    );
    expect({ code, left, stderr }).toEqual({
      code: 1,
      left: "",
      stderr: `--out: ${disk}/made.csv cannot be written: ENOSPC, the disk of ${disk} is full\n`,
    });
  },
);

test.runIf(canMount)(
  "ncs import density names the folder of temporary files when its disk is full, and leaves none",
  async () => {
    const lines = Array.from({ length: 20_000 }, () => "b00000000,2026-11-20T08:00:00Z,5000");
    writeFileSync(join(folder.path, "counted.csv"), `geohash,startTime,people\n${lines.join("\n")}\n`);
    const { code, left, stderr, disk } = await onFullDisk(importing, { TMPDIR: join(folder.path, "disk") });
    expect(code).toBe(1);
    expect(stderr).toContain(`cannot be written: ENOSPC, the disk of ${disk}/ncs-density-`);
    expect(left.replace(/^node-compile-cache\n/gm, "")).toBe("");
  },
);

test("a file of --out keeps its content and its rights when the new one cannot be written, and no other file is left", async () => {
  const { writeOut } = await import("../../tools/write-out.ts");
  mkdirSync(join(folder.path, "out"));
  const file = await folder.write("out/report.txt", "before");
  async function* breakingOff() {
    yield "half";
    throw new Error("the model ended");
  }
  await expect(writeOut(file, breakingOff())).rejects.toThrow("the model ended");
  expect(readFileSync(file, "utf8")).toBe("before");
  await writeOut(file, "after");
  expect(readFileSync(file, "utf8")).toBe("after");
  expect(readdirSync(join(folder.path, "out"))).toEqual(["report.txt"]);
});
