import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, isIPv4, type Socket } from "node:net";

/** What a name server knows of a name. */
export interface NameRecords {
  /** IPv4 and IPv6. */
  readonly addresses?: readonly string[];
  /** Names that lead one to the next, from the one asked for to the one that has the addresses. */
  readonly aliases?: readonly string[];
  /** Kinds of question that are never answered. */
  readonly silent?: readonly ("A" | "AAAA")[];
  /** Kinds of question that end in SERVFAIL. */
  readonly failing?: readonly ("A" | "AAAA")[];
  /** Whether an answer over UDP says that it is incomplete, so that it is asked for over TCP. */
  readonly truncated?: boolean;
}

/** A name server of this machine (RFC 1035); it answers NXDOMAIN for every other name. */
export interface NameServer {
  /** `address:port`, as resolvers take it. */
  readonly address: string;
  /** The questions so far, as in `A sink.example.com` and `AAAA sink.example.com over TCP`. */
  readonly questions: readonly string[];
  close(): Promise<void>;
}

/** Opens a name server at a free port of 127.0.0.1, over UDP and TCP. */
export async function openNameServer(names: Readonly<Record<string, NameRecords>>): Promise<NameServer> {
  const questions: string[] = [];
  const sockets = new Set<Socket>();
  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    let received = Buffer.alloc(0);
    socket.on("data", (data: Buffer) => {
      received = Buffer.concat([received, data]);
      // The length comes first (RFC 1035 section 4.2.2).
      while (received.length > 2 && received.length >= 2 + received.readUInt16BE()) {
        const end = 2 + received.readUInt16BE();
        const answer = answerTo(received.subarray(2, end), names, questions, true);
        received = received.subarray(end);
        if (answer === undefined) continue;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        socket.write(Buffer.concat([length, answer]));
      }
    });
  });
  tcp.listen(0, "127.0.0.1");
  await once(tcp, "listening");
  const address = tcp.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const udp = createSocket("udp4");
  udp.on("message", (message, from) => {
    const answer = answerTo(message, names, questions, false);
    if (answer !== undefined) udp.send(answer, from.port, from.address);
  });
  udp.bind(port, "127.0.0.1");
  await once(udp, "listening");
  return {
    address: `127.0.0.1:${port}`,
    questions,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      udp.close();
      tcp.close();
      await once(tcp, "close");
    },
  };
}

const kinds: Readonly<Record<number, "A" | "AAAA">> = { 1: "A", 28: "AAAA" };
const headerBytes = 12;
const [response, truncated] = [0x8180, 0x0200];
const [serverFailure, noSuchName] = [2, 3];

function answerTo(
  query: Buffer,
  names: Readonly<Record<string, NameRecords>>,
  questions: string[],
  isTcp: boolean,
): Buffer | undefined {
  const { name, end } = nameAt(query, headerBytes);
  const kind = kinds[query.readUInt16BE(end)];
  if (kind === undefined) return undefined;
  questions.push(`${kind} ${name}${isTcp ? " over TCP" : ""}`);
  const question = query.subarray(headerBytes, end + 4);
  const known = names[name];
  const made = (flags: number, answers: readonly Buffer[] = []) => {
    const header = Buffer.alloc(headerBytes);
    header.writeUInt16BE(query.readUInt16BE(0), 0);
    header.writeUInt16BE(response | flags, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers.length, 6);
    return Buffer.concat([header, question, ...answers]);
  };
  if (known === undefined) return made(noSuchName);
  if (known.silent?.includes(kind)) return undefined;
  if (known.failing?.includes(kind)) return made(serverFailure);
  if (known.truncated && !isTcp) return made(truncated);
  const chain = [name, ...(known.aliases ?? [])];
  const aliases = chain.slice(1).map((alias, index) => record(chain[index] ?? "", 5, wireName(alias)));
  const owned = (known.addresses ?? []).filter((address) => isIPv4(address) === (kind === "A"));
  const type = kind === "A" ? 1 : 28;
  const addresses = owned.map((address) => record(chain.at(-1) ?? "", type, wireAddress(address)));
  return made(0, [...aliases, ...addresses]);
}

function nameAt(message: Buffer, start: number): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.subarray(at + 1, at + 1 + length).toString("latin1"));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}

function record(name: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(60, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([wireName(name), fixed, data]);
}

function wireName(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([...labels, Buffer.alloc(1)]);
}

/** Of an IPv6 address, only the forms with all groups or with one `::` and no IPv4 part. */
function wireAddress(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail = ""] = address.split("::");
  const groupsOf = (text: string) => text.split(":").filter((group) => group !== "");
  const [first, last] = [groupsOf(head), groupsOf(tail)];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0");
  const groups = [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16));
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}
