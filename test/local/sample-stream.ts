import { Duration, type Stack } from "aws-cdk-lib";
import { LambdaIntegration, ResponseTransferMode, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { type Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";

/** Streams what the query string asks for. */
const streamingFunction = `
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
const { HttpResponseStream, streamifyResponse } = awslambda;
const metadata = {
  statusCode: 201,
  headers: { "Content-Type": "text/plain", "WWW-Authenticate": "Bearer", "Content-Length": "7" },
  multiValueHeaders: { "Set-Cookie": ["a=1", "b=2"] },
};
const streams = {
  words: async (stream) => {
    stream.write("first ");
    stream.write(new TextEncoder().encode("second "));
    stream.end("third");
  },
  until: async (stream, { address }) => {
    stream.write("first ");
    await fetch(address);
    stream.end("second");
  },
  large: async (stream, { bytes }) => {
    const chunk = Buffer.alloc(65_536, "x");
    for (let left = Number(bytes); left > 0; left -= chunk.length)
      if (!stream.write(chunk)) await once(stream, "drain");
    stream.end();
    console.log(JSON.stringify({ written: Number(bytes) }));
  },
  fail: () => { throw new TypeError("a secret of the inside"); },
  failLate: async (stream) => {
    stream.write("first ");
    throw new TypeError("a secret of the inside");
  },
  forget: (stream) => { stream.write("first "); },
  close: async (stream) => { stream.write("first "); await wait(100); stream.destroy(); },
  exit: (stream) => { stream.on("finish", () => process.exit()); stream.write("whole"); stream.end(); },
  onlyEnd: (stream) => { stream.end("no metadata"); },
  hang: () => new Promise(() => setInterval(() => {}, 1_000)),
};
export const handler = streamifyResponse(async ({ queryStringParameters: asked }, stream) => {
  if (asked.do === "plain") { stream.write("no metadata"); return void stream.end(); }
  const headers = { ...metadata.headers, "x-long": "x".repeat(Number(asked.headerBytes ?? 0)) };
  await streams[asked.do](HttpResponseStream.from(stream, { ...metadata, headers }), asked);
});
`;

/** Adds a function that streams, with integrations that stream and one that does not, and a streamed one of `buffering`. */
export function addStreaming(
  stack: Stack,
  api: RestApi,
  code: (name: string, source: string) => Code,
  buffering: LambdaFunction,
): void {
  const streaming = new LambdaFunction(stack, "StreamingFunction", {
    runtime: Runtime.NODEJS_22_X,
    handler: "index.handler",
    timeout: Duration.seconds(5),
    code: code("streaming", streamingFunction),
  });
  const options = { allowTestInvoke: false, responseTransferMode: ResponseTransferMode.STREAM };
  const brief = { ...options, timeout: Duration.millis(500) };
  const streamed = api.root.addResource("streamed");
  streamed.addMethod("GET", new LambdaIntegration(streaming, options));
  streamed.addResource("brief").addMethod("GET", new LambdaIntegration(streaming, brief));
  streamed.addResource("of-a-result").addMethod("GET", new LambdaIntegration(buffering, options));
  api.root
    .addResource("collected")
    .addMethod("GET", new LambdaIntegration(streaming, { allowTestInvoke: false }));
}
