import { CannotRun, inPlan } from "../ending.ts";
import type { World } from "../world.ts";
import { fromPlan, needsInPlan, on, type Step, setsProperty } from "./step.ts";

/** Which device or SIM card the request is about. */
export const deviceSteps: readonly Step[] = [
  on(
    /^(SIMCARD\d) is installed within (DEVICE\d), which is connected to the network$/,
    (world, simCard = "", device = "") => {
      world.installed = { simCard, device };
      lineOf(world, simCard);
    },
  ),
  on(/^(SIMCARD\d) is identified by the access token$/, async (world, simCard = "") => {
    await world.useCaller(inPlan(lineOf(world, simCard).caller, `simCards with a caller for ${simCard}`));
  }),
  setsProperty(/^request property "(\$.+)" is set to ([A-Z0-9]+)$/, (world, name = "") =>
    valueNamed(world, name),
  ),
  setsProperty(
    /^the request body property "(\$\.device)" is set to a valid (?:testing )?device$/,
    ({ plan }) => inPlan(plan.devices.valid, "devices.valid").device,
  ),
  on(
    /^the request body property "(\$\.device)" is compliant with the (?:request body )?schema but does not identify a valid device$/,
    (world, path = "") => {
      world.setProperty(path, inPlan(world.plan.devices.unknown, "devices.unknown"));
      const pointer = inPlan(world.resource.operation.body, "body of the operation");
      world.requireCompliant(world.body, pointer, "devices.unknown of the plan");
    },
  ),
  needsInPlan(
    /^that some types? of device identifiers are not supported by the implementation$/,
    "devices.unsupported",
  ),
  fromPlan(
    /^the request body property "(\$\.device)" only includes device identifiers not supported by the implementation$/,
    "devices.unsupported",
  ),
  needsInPlan(
    /^that (?:the )?service is not (?:supported|available) for all devices commercialized by the operator$/,
    "devices.notApplicable",
  ),
  fromPlan(
    /^(?:the service is not applicable for the device identified by the token or provided in the request body|a valid device, identified by the token or provided in the request body, for which the service is not applicable)$/,
    "devices.notApplicable",
    "$.device",
  ),
  fromPlan(
    /^a device for which the service is not applicable, provided in the request body or identified by the access token$/,
    "devices.withoutProfiles",
    "$.device",
  ),
  fromPlan(
    /^a device suitable for the restricted QoS Profiles is provided in the request body or identified by the access token$/,
    "devices.withRestrictedProfiles",
    "$.device",
  ),
  on(/^no device is provided in the request body or identified by the access token$/, async (world) => {
    world.setProperty("$.device", undefined);
    await world.useCaller(world.plan.application);
  }),
  on(
    /^the request body property "\$\.device\.ipv4Address\.publicPort" is set to a value not between 0 and (\d+)$/,
    (world, most = "") => {
      // With an address, so that the port alone is wrong.
      world.setProperty("$.device.ipv4Address.publicAddress", "203.0.113.0");
      world.setProperty("$.device.ipv4Address.publicPort", Number(most) + 1);
    },
  ),
];

/** What the features call `IMEI1`, `PHONENUMBER2` or `PUBLICPORT`. */
export function valueNamed(world: World, name: string): string | number {
  const [, kind = "", number = ""] = /^([A-Z]+(?:IPV4[A-Z]+)?)(\d?)$/.exec(name) ?? [];
  const ofLine = {
    PHONENUMBER: "phoneNumber",
    PUBLICIPV4ADDRESS: "publicIpv4Address",
    PUBLICPORT: "publicPort",
  } as const;
  const member = Object.entries(ofLine).find(([called]) => called === kind)?.[1];
  if (member !== undefined) {
    const line = number === "" ? installedLine(world) : lineOf(world, `SIMCARD${number}`);
    return inPlan(line[member], name);
  }
  const equipment: Readonly<Record<string, string | undefined>> =
    world.plan.equipment[`DEVICE${number}`] ?? {};
  return inPlan(equipment[kind.toLowerCase()], name);
}

/** The line of the SIM card that the scenario has in a device. */
export function installedLine(world: World) {
  return lineOf(world, world.installed?.simCard ?? "");
}

/** The line of a SIM card in the device that the scenario names. */
function lineOf({ plan, installed }: World, simCard: string) {
  if (installed === undefined) throw new CannotRun("no step says which SIM card is in which device");
  const found = plan.simCards.find((line) => line.simCard === simCard && line.in === installed.device);
  return inPlan(found, `simCards with ${simCard} in ${installed.device}`);
}
