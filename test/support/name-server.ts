import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";

/** What a name server knows of a name. */
export interface NameRecords {
  /** IPv4 and IPv6. */
  readonly addresses?: readonly string[];
  /** Kinds of question that are never answered. */
  readonly silent?: readonly ("A" | "AAAA")[];
  /** Kinds of question that end in SERVFAIL. */
  readonly failing?: readonly ("A" | "AAAA")[];
}

/** A name server of this machine (RFC 1035); it answers NXDOMAIN for every other name. */
export interface NameServer {
  /** `address:port`, as resolvers take it. */
  readonly address: string;
  /** The questions so far, such as `AAAA sink.example.com`. */
  readonly questions: readonly string[];
  close(): Promise<void>;
}

/** Opens a name server at a free UDP port of 127.0.0.1. */
export async function openNameServer(names: Readonly<Record<string, NameRecords>>): Promise<NameServer> {
  const questions: string[] = [];
  const udp = createSocket("udp4");
  udp.on("message", (message, from) => {
    const answer = answerTo(message, names, questions);
    if (answer !== undefined) udp.send(answer, from.port, from.address);
  });
  udp.bind(0, "127.0.0.1");
  await once(udp, "listening");
  return {
    address: `127.0.0.1:${udp.address().port}`,
    questions,
    close: async () => {
      udp.close();
      await once(udp, "close");
    },
  };
}

const kinds: Readonly<Record<number, "A" | "AAAA">> = { 1: "A", 28: "AAAA" };
const headerBytes = 12;
const response = 0x8180;
const [serverFailure, noSuchName] = [2, 3];

function answerTo(
  query: Buffer,
  names: Readonly<Record<string, NameRecords>>,
  questions: string[],
): Buffer | undefined {
  const { name, end } = nameAt(query, headerBytes);
  const kind = kinds[query.readUInt16BE(end)];
  if (kind === undefined) return undefined;
  questions.push(`${kind} ${name}`);
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
  const owned = (known.addresses ?? []).filter((address) => isIPv4(address) === (kind === "A"));
  const type = kind === "A" ? 1 : 28;
  const addresses = owned.map((address) => record(name, type, wireAddress(address)));
  return made(0, addresses);
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

/** The bytes of an address; an IPv6 one with all groups, or with one `::`, and without an IPv4 part. */
function wireAddress(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail = ""] = address.split("::");
  const groupsOf = (text: string) => text.split(":").filter((group) => group !== "");
  const [first, last] = [groupsOf(head), groupsOf(tail)];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0");
  const groups = [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16));
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}
