import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import {
  answering,
  bodyWith,
  certificate,
  closeSinks,
  httpSink,
  httpsSink,
  listen,
  postTo,
  rawSink,
  short,
} from "./sink-server.ts";

afterEach(closeSinks);

test("an attempt fails before the request when the certificate is of an unknown authority", async () => {
  let requests = 0;
  const { port, server } = await httpsSink(() => requests++);
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => sockets.push(socket));
  const { state, body } = bodyWith(3);

  const ended = await postTo(port, { sink: `https://localhost:${port}/`, body });

  expect(ended).toEqual({ outcome: "failed", cause: "DEPTH_ZERO_SELF_SIGNED_CERT", sentWhole: false });
  await expect.poll(() => sockets.map((socket) => socket.destroyed)).toEqual([true]);
  expect(requests).toBe(0);
  expect(state.pulled).toBe(0);
});

test.each(["https://other.example.com", "https://127.0.0.2"])(
  "an attempt fails before the request when the certificate is not for %s",
  async (origin) => {
    let requests = 0;
    const { port } = await listen(
      createHttpsServer(certificate, () => requests++),
      "0.0.0.0",
    );
    const options = { ca: certificate.cert, resolve: async () => ["127.0.0.1"] };

    const ended = await postTo(port, { ...options, sink: `${origin}:${port}/` });

    expect(ended).toEqual({ outcome: "failed", cause: "ERR_TLS_CERT_ALTNAME_INVALID", sentWhole: false });
    expect(requests).toBe(0);
  },
);

test("an attempt fails when the sink speaks TLS 1.1 at most", async () => {
  const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
  const { port } = await listen(createHttpsServer({ ...certificate, ...old }, answering(200)));
  const options = { sink: `https://localhost:${port}/`, ca: certificate.cert };
  expect(await postTo(port, options)).toMatchObject({ outcome: "failed" });
});

test("an attempt fails as CONNECT_TIMEOUT when the sink does not answer the TLS handshake", async () => {
  const { port } = await rawSink((socket) => socket.resume());
  const ended = await postTo(port, { sink: `https://localhost:${port}/`, limits: short });
  expect(ended).toEqual({ outcome: "failed", cause: "CONNECT_TIMEOUT", sentWhole: false });
});

test("an attempt fails when the port of an https sink does not speak TLS", async () => {
  const { port } = await httpSink(answering(200));
  const ended = await postTo(port, { sink: `https://localhost:${port}/` });
  expect(ended).toMatchObject({ outcome: "failed" });
});
