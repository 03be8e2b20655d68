/**
 * Which requests the servers of `npm start` answer: those that name this machine. A page whose host name an attacker
 * makes resolve to 127.0.0.1 (DNS rebinding) is, to its browser, of the same origin as such a server; its `Host` is
 * still its own name.
 */
const loopback = ["127.0.0.1", "localhost", "[::1]"];

export function isOwnHost(host, port, allowed) {
  const [, name = "", namedPort = "80"] = /^(.+?)(?::(\d+))?$/.exec(host?.toLowerCase() ?? "") ?? [];
  return allowed.includes(name) || (loopback.includes(name) && Number(namedPort) === port);
}

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
