import { createHash, createHmac } from "node:crypto";
import { CannotRun, expectThat, inPlan } from "../ending.ts";
import type { Plan } from "../plan.ts";
import type { World } from "../world.ts";
import { present } from "./answer.ts";
import { installedLine } from "./devices.ts";
import { on, type Step } from "./step.ts";

/** Pseudonyms of devices. */
export const pseudonymSteps: readonly Step[] = [
  on(
    /^the response property "(\$.+)" exists and is equal to PPID(\d)$/,
    async (world, path = "", number = "") => {
      const value = present(world.sentAnswer.body, path);
      const planned = world.plan.equipment[`DEVICE${number}`]?.ppid;
      if (planned === undefined) await requirePseudonym(world, path, value, `DEVICE${number}`);
      else expectThat(value === planned, `the pseudonym is not PPID${number}`);
    },
  ),
];

/**
 * Where the plan has no pseudonym, as it is the implementation's secret: it must be one that nobody can compute, that this
 * client got before for this device and for no other, and that differs from what another client gets.
 */
async function requirePseudonym(world: World, path: string, value: unknown, device: string): Promise<void> {
  const { plan, caller = "" } = world;
  const otherClient = inPlan(plan.devices.otherClient, "devices.otherClient");
  if (clientOf(plan, otherClient) === clientOf(plan, caller)) {
    throw new CannotRun(`devices.otherClient of the plan is the client of ${caller}`);
  }
  expectThat(!guesses(world, device).has(String(value)), "anyone can compute the pseudonym");
  learn(world, caller, device, value);
  const { phoneNumber } = installedLine(world);
  const { status, body } = await world.ask(otherClient, { device: { phoneNumber } });
  if (status !== 200) throw new CannotRun(`devices.otherClient is answered ${status}`);
  const theirs = present(body, path);
  expectThat(value !== theirs, "another client gets the same pseudonym");
  learn(world, otherClient, device, theirs);
}

/** Keeps what a client got first for a device. @throws {Unexpected} for another one, or that of another device. */
function learn({ plan, surroundings, notes }: World, caller: string, device: string, value: unknown): void {
  const { learned } = surroundings;
  const client = clientOf(plan, caller);
  const key = `${client} ${device}`;
  const others = [...learned].filter(([other]) => other.startsWith(`${client} `) && other !== key);
  expectThat(
    others.every(([, pseudonym]) => pseudonym !== value),
    `another device has the pseudonym of ${device}`,
  );
  if (!learned.has(key)) notes.push(`the pseudonym of ${device} for ${client} is what is answered first`);
  expectThat((learned.get(key) ?? value) === value, `${device} had another pseudonym before`);
  learned.set(key, value);
}

/** The client of a caller; its own name where the plan does not say. */
function clientOf({ callers }: Plan, caller: string): string {
  const from = callers[caller]?.from;
  return from !== undefined && "client" in from ? from.client.clientId : caller;
}

const algorithms = ["md5", "sha1", "sha256", "sha384", "sha512", "sha512-256", "sha3-256", "blake2s256"];
const separators = ["", " ", ":", "|", "/", ".", ",", "-", "_"];

/** The numbers of device and line, and digests of each: alone, with the client, or with the client as the key. */
function guesses(world: World, device: string): ReadonlySet<string> {
  const client = clientOf(world.plan, world.caller ?? "");
  const { imei, imeisv } = world.plan.equipment[device] ?? {};
  const numbers = [imei, imei?.slice(0, -1), imeisv, installedLine(world).phoneNumber].filter(
    (number) => number !== undefined,
  );
  const joined = (number: string, separator: string) => [
    `${number}${separator}${client}`,
    `${client}${separator}${number}`,
  ];
  const texts = numbers.flatMap((number) => [number, ...separators.flatMap((one) => joined(number, one))]);
  const digests = algorithms.flatMap((algorithm) => [
    ...texts.map((text) => createHash(algorithm).update(text).digest()),
    ...numbers.map((number) => createHmac(algorithm, client).update(number).digest()),
  ]);
  const encoded = (digest: Buffer) => [
    ...(["hex", "base64", "base64url"] as const).map((encoding) => digest.toString(encoding)),
    digest.toString("hex").toUpperCase(),
  ];
  return new Set([...numbers, ...digests.flatMap(encoded)]);
}
