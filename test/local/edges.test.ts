import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { sharedService } from "../support/service.ts";

/** Sends a text unchanged and returns everything received until the server closes. */
async function exchange(sent: string, { half = false } = {}): Promise<string> {
  const { hostname, port } = new URL(sharedService.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.setEncoding("utf8").setTimeout(8_000, () => socket.destroy());
  await once(socket, "connect");
  let received = "";
  socket.on("data", (text: string) => {
    received += text;
  });
  socket.once("end", () => socket.end());
  if (half) socket.end(sent);
  else socket.write(sent);
  await once(socket, "close");
  return received;
}

const { host: ownHost } = new URL(sharedService.url);
const keys = `GET /.well-known/jwks.json HTTP/1.1\r\nHost: ${ownHost}\r\n`;

test.each([
  ["text that is not HTTP", "HELLO\r\n\r\n"],
  [
    "a negative Content-Length",
    "POST /v3/profile/authenticate HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
  ],
  [
    "two Content-Length headers",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
  ],
  ["headers that are too large", `GET / HTTP/1.1\r\nHost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`],
])("the service responds 400 with its usual error body to %s", async (_, sent) => {
  const received = await exchange(sent);
  expect(received).toMatch(/^HTTP\/1\.1 400 [\s\S]*x-amzn-requestid: /);
  expect(JSON.parse(received.slice(received.indexOf("\r\n\r\n")))).toMatchObject({
    status: 400,
    code: "INVALID_ARGUMENT",
  });
});

test.each(["[", "a b", '"><script>', "a/b?", "b@a", "a:1/..//b", "%", "a:99999"])(
  "the service responds 400 to the Host %s, which is neither a name nor an address",
  async (host) => {
    const received = await exchange(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
  },
);

const closed = (host: string) => `${keys.replace(ownHost, host)}Connection: close\r\n\r\n`;

test.each(["a", "127.0.0.1", "localhost:1", "my_host", ownHost.replace("127.0.0.1", "rebound.example")])(
  "the service responds 421 in the form of its errors to the Host %s, before it reads a body",
  async (host) => {
    for (const sent of [closed(host), `${login.replace(ownHost, host)}Content-Length: 100\r\n\r\n{}`]) {
      const received = await exchange(sent);
      expect(received).toMatch(/^HTTP\/1\.1 421 Misdirected Request\r\n/);
      expect(received).not.toMatch(/access-control/i);
      expect(JSON.parse(received.slice(received.indexOf("\r\n\r\n")))).toEqual({
        status: 421,
        code: "MISDIRECTED_REQUEST",
        message: expect.stringContaining("--allow-host NAME"),
      });
    }
  },
);

const login = `POST /v3/profile/authenticate HTTP/1.1\r\nHost: ${ownHost}\r\nx-correlator: cut-off\r\n`;

test.each([
  ["an invalid chunk", `${login}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nZZ\r\n`, false],
  ["no last chunk", `${login}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`, true],
  ["a body shorter than its Content-Length", `${login}Content-Length: 100\r\n\r\n{}`, true],
])("the service responds 400 at once to a request with %s", async (_, sent, half) => {
  // `exchange` gives up after eight seconds without data and then returns an empty text.
  const received = await exchange(sent, { half });
  expect(received).toMatch(/^HTTP\/1\.1 400 [\s\S]*x-correlator: cut-off[\s\S]*connection: close/i);
  expect(JSON.parse(received.slice(received.indexOf("\r\n\r\n")))).toMatchObject({
    status: 400,
    code: "INVALID_ARGUMENT",
  });
});
