/**
 * Which requests the servers of `npm start` answer: those that name this machine. A page whose host name an attacker
 * makes resolve to 127.0.0.1 (DNS rebinding) is, to its browser, of the same origin as such a server; its `Host` is
 * still its own name.
 */
const loopback = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Whether a `Host` header names this server: a loopback name with the server's own port, or an allowed name with any
 * port. A missing header does not.
 * @param {string | undefined} host
 * @param {number | undefined} port
 * @param {readonly string[]} allowed in lower case, without ports.
 * @returns {boolean}
 */
export function isOwnHost(host, port, allowed) {
  const [, name = "", namedPort = "80"] = /^(.+?)(?::(\d+))?$/.exec(host?.toLowerCase() ?? "") ?? [];
  return allowed.includes(name) || (loopback.includes(name) && Number(namedPort) === port);
}

/**
 * Answers the requests of programs that name this server; others, and all that have an `Origin`, as those of web pages
 * do, get 403 in the form of AWS's errors, without CORS headers.
 * @param {import("node:http").RequestListener} answer
 * @param {readonly string[]} allowed as for `isOwnHost`.
 * @returns {import("node:http").RequestListener}
 */
export function onlyPrograms(answer, allowed) {
  return (request, response) => {
    const { host, origin } = request.headers;
    if (origin === undefined && isOwnHost(host, request.socket.localPort, allowed)) {
      return answer(request, response);
    }
    response.writeHead(403, { "content-type": "application/x-amz-json-1.0" }).end(refusal);
  };
}

const refusal = JSON.stringify({
  __type: "AccessDeniedException",
  message:
    "Only programs that call this server by a loopback address and its port are answered, and no web pages; " +
    "npm start -- --allow-host NAME allows another name.",
});
