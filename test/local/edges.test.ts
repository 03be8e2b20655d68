import { once } from "node:events";
import { connect } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { methodOf, useGateways } from "./sample.ts";

const open = useGateways();
let host: string;
beforeAll(async () => {
  const invoke = async () => ({ statusCode: 200 });
  const methods = [methodOf("/things"), methodOf("/things", { verb: "POST" })];
  const { url } = await open({ methods }, { invoke, allowedHosts: ["here.example"] });
  ({ host } = new URL(url));
});

/** Sends a text unchanged, and returns everything received until the server closes; `HOST` stands for its own. */
async function exchange(sent: string, isHalf = false) {
  const [hostname, port] = host.split(":");
  const socket = connect({ host: hostname ?? "", port: Number(port), allowHalfOpen: true });
  socket.setEncoding("utf8").setTimeout(8_000, () => socket.destroy());
  await once(socket, "connect");
  let received = "";
  socket.on("data", (text: string) => {
    received += text;
  });
  socket.once("end", () => socket.end());
  socket[isHalf ? "end" : "write"](sent.replace("HOST", host));
  await once(socket, "close");
  const [head = "", body = ""] = received.split("\r\n\r\n");
  return { status: head.slice(9, 12), head, body: body === "" ? undefined : JSON.parse(body) };
}

const malformed = { status: "400", body: { status: 400, code: "INVALID_ARGUMENT" } };

test.each([
  ["text that is not HTTP", "HELLO\r\n\r\n"],
  ["a negative Content-Length", "POST /things HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"],
  [
    "two Content-Length headers",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
  ],
  ["headers that are too large", `GET / HTTP/1.1\r\nHost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`],
])("the gateway responds 400 with the service's error body to %s", async (_, sent) => {
  const answer = await exchange(sent);
  expect(answer).toMatchObject(malformed);
  expect(answer.head).toContain("x-amzn-requestid: ");
});

const statusFor = async (name: string) =>
  (await exchange(`GET /things HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)).status;

test.each(["[", "a b", '"><script>', "a/b?", "b@a", "a:1/..//b", "%", "a:99999"])(
  "the gateway responds 400 to the Host %s, which is neither a name nor an address",
  async (name) => {
    expect(await statusFor(name)).toBe("400");
  },
);

test("the gateway answers the Host here.example, which --allow-host names", async () => {
  expect(await statusFor("here.example")).toBe("200");
});

test.each(["a", "127.0.0.1", "localhost:1", "my_host", "rebound.example:80"])(
  "the gateway responds 421 in the form of its errors to the Host %s, before it reads a body",
  async (name) => {
    const answer = await exchange(`POST /things HTTP/1.1\r\nHost: ${name}\r\nContent-Length: 100\r\n\r\n{}`);
    const body = { code: "MISDIRECTED_REQUEST", message: expect.stringContaining("--allow-host NAME") };
    expect(answer).toMatchObject({ status: "421", body });
    expect(answer.head).not.toMatch(/access-control/i);
  },
);

test("a client disconnects in the middle of its request → the next request is answered", async () => {
  const [hostname, port] = host.split(":");
  const socket = connect(Number(port), hostname);
  socket.write(`POST /things HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\n\r\nhalf`);
  await once(socket, "connect");
  socket.destroy();
  expect(await statusFor(host)).toBe("200");
});

const post = "POST /things HTTP/1.1\r\nHost: HOST\r\nx-correlator: cut-off\r\n";

test.each([
  ["an invalid chunk", `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nZZ\r\n`, false],
  ["no last chunk", `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`, true],
  ["a body shorter than its Content-Length", `${post}Content-Length: 100\r\n\r\n{}`, true],
])("the gateway responds 400 at once to a request with %s", async (_, sent, isHalf) => {
  // `exchange` gives up after eight seconds without data, and there is no status then.
  const answer = await exchange(sent, isHalf);
  expect(answer).toMatchObject(malformed);
  expect(answer.head).toMatch(/x-correlator: cut-off[\s\S]*connection: close/i);
});
