/**
 * Loaded before AWS's runtime interface client: gives it a client of the Runtime API in JavaScript instead of its
 * native one, which is compiled when the package is installed.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
const { request } = require("node:http");
const Module = require("node:module");

const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(":");

function send(method, path, body) {
  return new Promise((resolve, reject) => {
    const address = { hostname, port, method, path: `/2018-06-01/runtime/invocation/${path}` };
    const sent = request(address, (response) => {
      let bodyJson = "";
      response.setEncoding("utf8");
      response.on("data", (text) => {
        bodyJson += text;
      });
      response.on("end", () => resolve({ bodyJson, headers: response.headers }));
    });
    sent.on("error", reject).end(body);
  });
}

/** The native client waits until a result has been posted. */
let posted = Promise.resolve();

const nativeClient = {
  next: () => posted.then(() => send("GET", "next")),
  done: (id, result) => {
    posted = send("POST", `${id}/response`, result);
  },
  error: (id, error) => {
    posted = send("POST", `${id}/error`, error);
  },
};

const load = Module._load;
Module._load = (name, ...rest) => (name === "./rapid-client.node" ? nativeClient : load(name, ...rest));

// Asked what it has used, the process answers its microseconds of processor time.
process.on("message", () => process.send(process.cpuUsage()));
// It ends like one that nobody asks.
process.channel?.unref();
