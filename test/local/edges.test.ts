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

const keys = "GET /.well-known/jwks.json HTTP/1.1\r\nHost: a\r\n";

test.each([
  ["no HTTP", "HELLO\r\n\r\n"],
  ["a bad length", "POST /v3/profile/authenticate HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"],
  ["two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
  ["a head that is too large", `GET / HTTP/1.1\r\nHost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`],
])("what cannot be read has the body of every error: %s", async (_, sent) => {
  const received = await exchange(sent);
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
  expect(JSON.parse(received.slice(received.indexOf("\r\n\r\n")))).toMatchObject({
    status: 400,
    code: "INVALID_ARGUMENT",
  });
});

test.each(["[", "a b", '"><script>', "a/b?", "b@a", "a:1/..//b", "%", "a:99999"])(
  "a host that is neither a name nor an address is refused: %s",
  async (host) => {
    const received = await exchange(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
  },
);

test.each(["a", "here.example:8080", "[::1]", "[::1]:3000", "my_host"])("a host may be %s", async (host) => {
  const received = await exchange(`${keys.replace("Host: a", `Host: ${host}`)}Connection: close\r\n\r\n`);
  expect(received).toMatch(/^HTTP\/1\.1 200 /);
});

const login = "POST /v3/profile/authenticate HTTP/1.1\r\nHost: a\r\nx-correlator: cut-off\r\n";

test.each([
  ["a chunk that is none", `${login}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nZZ\r\n`, false],
  ["chunks without an end", `${login}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`, true],
  ["a body that is shorter than it was said to be", `${login}Content-Length: 100\r\n\r\n{}`, true],
])("a request that cannot be read to its end is refused at once: %s", async (_, sent, half) => {
  // `exchange` gives up after eight seconds of silence, and then has received nothing.
  const received = await exchange(sent, { half });
  expect(received).toMatch(/^HTTP\/1\.1 400 [\s\S]*x-correlator: cut-off[\s\S]*connection: close/i);
  expect(JSON.parse(received.slice(received.indexOf("\r\n\r\n")))).toMatchObject({
    status: 400,
    code: "INVALID_ARGUMENT",
  });
});

test("a request that is cut off is refused after the answers to those before it", async () => {
  const received = await exchange(`${keys}\r\n${login}Content-Length: 100\r\n\r\n{}`, { half: true });
  expect(received).toMatch(/^HTTP\/1\.1 200 [\s\S]*"keys"[\s\S]*HTTP\/1\.1 400 [\s\S]*"INVALID_ARGUMENT"/);
});

test("a tunnel is no route, and a missing host or an odd expectation is nobody's concern", async () => {
  expect(await exchange("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 404 [\s\S]*"NOT_FOUND"/,
  );
  const closing = "GET /.well-known/jwks.json HTTP/1.1\r\nConnection: close\r\n";
  expect(await exchange(`${closing}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await exchange(`${closing}Host: a\r\nExpect: the-unexpected\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
});

test("a whole request is answered although its client says no more, or says nonsense after it", async () => {
  expect(await exchange(`${keys}\r\n`, { half: true })).toMatch(/^HTTP\/1\.1 200 [\s\S]*"keys"/);
  const answered = await exchange(`${keys}\r\nGARBAGE\r\n\r\n`);
  expect(answered).toMatch(/^HTTP\/1\.1 200 [\s\S]*"keys"/);
  expect(answered).not.toContain("INVALID_ARGUMENT");
});
