import { area } from "../../shared/area.ts";
import { retrieveIdentifier, retrievePpid, retrieveType } from "./contract.ts";

/** The identifiers, the type and the pseudonym of the device a subscriber uses. */
export const deviceIdentifierArea = area({
  name: "device-identifier",
  title: "Device Identifier",
  about: "The identifiers, the type and a pseudonym of the device a subscriber uses.",
  endpoints: [retrieveIdentifier, retrieveType, retrievePpid],
  scopes: {
    "device-identifier:retrieve-identifier": "Retrieve the identifiers of a subscriber's device.",
    "device-identifier:retrieve-type": "Retrieve the type of a subscriber's device.",
    "device-identifier:retrieve-ppid": "Retrieve a pseudonym of a subscriber's device.",
  },
  tables: [],
});
