import { CannotRun, inPlan } from "../ending.ts";
import type { World } from "../world.ts";
import type { Step } from "./step.ts";

/** Which device or SIM card the request is about. */
export const deviceSteps: readonly Step[] = [
  {
    pattern: /^(SIMCARD\d) is installed within (DEVICE\d), which is connected to the network$/,
    run: (world, simCard = "", device = "") => {
      world.installed = { simCard, device };
      lineOf(world, simCard);
    },
  },
  {
    pattern: /^(SIMCARD\d) is identified by the access token$/,
    run: async (world, simCard = "") => {
      const { caller } = lineOf(world, simCard);
      await world.useCaller(inPlan(caller, `simCards with a caller for ${simCard}`));
    },
  },
  {
    pattern: /^request property "(\$.+)" is set to ([A-Z0-9]+)$/,
    run: (world, path = "", name = "") => world.setProperty(path, valueNamed(world, name)),
  },
  {
    pattern: /^the request body property "(\$\.device)" is set to a valid (?:testing )?device$/,
    run: (world, path = "") =>
      world.setProperty(path, inPlan(world.plan.devices.valid, "devices.valid").device),
  },
  {
    pattern:
      /^the request body property "(\$\.device)" is compliant with the (?:request body )?schema but does not identify a valid device$/,
    run: (world, path = "") => {
      world.setProperty(path, inPlan(world.plan.devices.unknown, "devices.unknown"));
      const pointer = inPlan(world.resource.operation.body, "body of the operation");
      world.requireCompliant(world.body, pointer, "devices.unknown of the plan");
    },
  },
  {
    pattern: /^that some types? of device identifiers are not supported by the implementation$/,
    run: ({ plan }) => void inPlan(plan.devices.unsupported, "devices.unsupported"),
  },
  {
    pattern:
      /^the request body property "(\$\.device)" only includes device identifiers not supported by the implementation$/,
    run: (world, path = "") =>
      world.setProperty(path, inPlan(world.plan.devices.unsupported, "devices.unsupported")),
  },
  {
    pattern:
      /^that (?:the )?service is not (?:supported|available) for all devices commercialized by the operator$/,
    run: ({ plan }) => void inPlan(plan.devices.notApplicable, "devices.notApplicable"),
  },
  {
    pattern:
      /^(?:the service is not applicable for the device identified by the token or provided in the request body|a valid device, identified by the token or provided in the request body, for which the service is not applicable)$/,
    run: (world) =>
      world.setProperty("$.device", inPlan(world.plan.devices.notApplicable, "devices.notApplicable")),
  },
  {
    pattern:
      /^a device for which the service is not applicable, provided in the request body or identified by the access token$/,
    run: (world) =>
      world.setProperty("$.device", inPlan(world.plan.devices.withoutProfiles, "devices.withoutProfiles")),
  },
  {
    pattern:
      /^a device suitable for the restricted QoS Profiles is provided in the request body or identified by the access token$/,
    run: (world) =>
      world.setProperty(
        "$.device",
        inPlan(world.plan.devices.withRestrictedProfiles, "devices.withRestrictedProfiles"),
      ),
  },
  {
    pattern: /^no device is provided in the request body or identified by the access token$/,
    run: async (world) => {
      world.setProperty("$.device", undefined);
      await world.useCaller(world.plan.application);
    },
  },
  {
    pattern:
      /^the request body property "\$\.device\.ipv4Address\.publicPort" is set to a value not between 0 and (\d+)$/,
    run: (world, most = "") => {
      // With an address, so that the port alone is wrong.
      world.setProperty("$.device.ipv4Address.publicAddress", "203.0.113.0");
      world.setProperty("$.device.ipv4Address.publicPort", Number(most) + 1);
    },
  },
];

/** What the features call `IMEI1`, `PHONENUMBER2` or `PUBLICPORT`. */
export function valueNamed(world: World, name: string): string | number {
  const [, kind = "", number = ""] = /^([A-Z]+(?:IPV4[A-Z]+)?)(\d?)$/.exec(name) ?? [];
  const simCard = number === "" ? (world.installed?.simCard ?? "") : `SIMCARD${number}`;
  const values: Readonly<Record<string, () => string | number | undefined>> = {
    PHONENUMBER: () => lineOf(world, simCard).phoneNumber,
    PUBLICIPV4ADDRESS: () => lineOf(world, simCard).publicIpv4Address,
    PUBLICPORT: () => lineOf(world, simCard).publicPort,
  };
  const equipment: Readonly<Record<string, string | undefined>> =
    world.plan.equipment[`DEVICE${number}`] ?? {};
  return inPlan(values[kind]?.() ?? equipment[kind.toLowerCase()], name);
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
