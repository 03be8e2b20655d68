import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { nodeListener } from "../../client/node-listener.ts";
import { createReceiver } from "../../client/receiver.ts";
import { chosenPort, listen } from "../../tools/local/servers/listening-server.ts";
import { fencesIn } from "../docs/fences.ts";

type Next = (error?: unknown) => void;
type Handler = (message: IncomingMessage, reply: ServerResponse, next: Next) => unknown;
type Parser = (options?: object) => Handler;
interface App {
  use(...handlers: readonly (Handler | ((error: Error, ...rest: unknown[]) => void))[]): void;
}
// Its types are a package that nothing else here needs.
const express: (() => App & RequestListener) & Record<"json" | "raw" | "text", Parser> = createRequire(
  import.meta.url,
)("express");

const accessToken = "token-of-the-sink";

function delivery() {
  return { operationId: crypto.randomUUID(), status: "AREA_NOT_SUPPORTED", timedPopulationDensityData: [] };
}

async function send(url: string, body: object, isPacked = false): Promise<number> {
  const text = JSON.stringify(body);
  const { status } = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${accessToken}`,
      "content-type": "application/json",
      ...(isPacked ? { "content-encoding": "gzip" } : {}),
    },
    body: isPacked ? gzipSync(text) : text,
  });
  return status;
}

/** A receiver in Express behind these handlers; the operations that it stored and the errors that Express was told. */
async function receiverBehind(...handlers: readonly Handler[]) {
  const stored: string[] = [];
  const errors: string[] = [];
  const onDelivery = ({ operationId }: { operationId: string }) => void stored.push(operationId);
  const app = express();
  app.use(...handlers, nodeListener(createReceiver({ accessToken, onDelivery })));
  // Express knows a handler of errors by its four parameters.
  app.use(
    (error: Error, _request: unknown, _response: unknown, _next: unknown) => void errors.push(error.message),
  );
  const { url, close } = await listen(createServer(app), 0);
  onTestFinished(close);
  return { url, stored, errors };
}

const json = { type: "application/json" };

test.each([
  ["without a parser", [], 415],
  ["behind express.raw", [express.raw(json)], 204],
  ["behind express.text", [express.text(json)], 204],
  ["behind parsers of other types", [express.json({ type: "text/plain" }), express.text()], 415],
])(
  "a receiver in Express %s accepts a delivery, a compressed one only from a parser, and answers 401 without the token",
  async (_, parsers, packedStatus) => {
    const { url, stored, errors } = await receiverBehind(...parsers);
    const sent = [delivery(), delivery()];

    expect(await send(url, sent[0] ?? {})).toBe(204);
    expect(await send(url, sent[1] ?? {}, true)).toBe(packedStatus);
    const headers = { "content-type": "application/json" };
    expect((await fetch(url, { method: "POST", headers, body: "{}" })).status).toBe(401);

    expect(stored).toEqual(sent.slice(0, packedStatus === 204 ? 2 : 1).map(({ operationId }) => operationId));
    expect(errors).toEqual([]);
  },
);

test("a receiver refuses bytes that a parser has left compressed", async () => {
  const collect: Handler = async (message, _, next) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    next(void Object.assign(message, { body: Buffer.concat(chunks) }));
  };
  const { url, stored } = await receiverBehind(collect);

  expect(await send(url, delivery(), true)).toBe(400);
  expect(stored).toEqual([]);
});

test("a receiver in Express behind express.json answers 500, and throws once that it must come before parsers", async () => {
  const { url, stored, errors } = await receiverBehind(express.json());

  const statuses = [
    await send(url, delivery()),
    await send(url, delivery(), true),
    await send(url, delivery()),
  ];

  expect(statuses).toEqual([500, 500, 500]);
  expect(errors).toEqual(["the body was read before: mount the receiver before body parsers"]);
  expect(stored).toEqual([]);
});

test.each(["POST // HTTP/1.1", "GET // HTTP/1.1", "TRACE / HTTP/1.1"])(
  "a receiver closes the connection of a stranger who sends %s, and goes on",
  async (line) => {
    const { url, errors } = await receiverBehind();
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.end(`${line}\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi`);
    expect(await socket.toArray()).toEqual([]);

    expect(await send(url, delivery())).toBe(204);
    expect(errors).toEqual([]);
  },
);

test.each([
  ["express.json", express.json()],
  ["express.raw", express.raw(json)],
  ["express.text", express.text(json)],
])("a receiver behind %s answers a delivery without a body with 400", async (_, parser) => {
  const { url, errors } = await receiverBehind(parser);
  const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
  expect((await fetch(url, { method: "POST", headers })).status).toBe(400);
  expect(errors).toEqual([]);
});

test("a receiver behind a handler that has the body decoded answers 500, and throws what to change", async () => {
  const { url, errors } = await receiverBehind((message, _, next) => next(void message.setEncoding("utf8")));
  expect(await send(url, delivery())).toBe(500);
  expect(errors).toEqual(["the body was read before: mount the receiver before body parsers"]);
});

const programs = fencesIn("docs/deliveries.md").flatMap(({ marks, text }) => {
  const name = marks.get("file");
  return name?.startsWith("receiver-") ? [{ name, text }] : [];
});

test("the document of deliveries shows a receiver in Express and Fastify", () => {
  expect(programs.map(({ name }) => name)).toEqual(["express", "fastify"].map((of) => `receiver-${of}.mjs`));
});

test.each(programs.map(({ name, text }) => [name, text] as const))(
  "%s of the document of deliveries stores a delivery, and refuses a compressed one",
  async (name, text) => {
    const folder = mkdtempSync(join(tmpdir(), "network-capabilities-receiver-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const linked of ["client", "node_modules"])
      symlinkSync(resolve(linked), join(folder, linked), "junction");
    const port = await chosenPort(0);
    const url = `http://127.0.0.1:${port}`;
    writeFileSync(join(folder, name), text.replaceAll("8081", String(port)));
    const child = spawn(process.execPath, ["--no-warnings", name], {
      cwd: folder,
      env: { ...process.env, SINK_TOKEN: accessToken },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill());
    const stopped = once(child, "exit");
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    const paths = name === "receiver-express.mjs" ? ["/deliveries", "/parsed"] : ["/deliveries"];
    await expect
      .poll(() =>
        fetch(url).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);

    for (const path of paths) {
      // Above the 100 KB and the MiB at which parsers of Express and Fastify refuse.
      const large = { ...delivery(), more: "x".repeat(2 ** 21) };
      expect(await send(url + path, large)).toBe(204);
      expect(await send(url + path, delivery(), true)).toBe(415);
    }
    child.kill();
    await stopped;

    expect(output.match(/^stored [\da-f-]{36}$/gm)).toHaveLength(paths.length);
  },
);
